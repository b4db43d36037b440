/**
 * Workload {@code files}: what its files contain, and the order in which a reader reads them, as
 * functions of a seed. The definition is in docs/reference/files.md. Nothing here opens a file.
 */
package org.klatch.exchange.files;
