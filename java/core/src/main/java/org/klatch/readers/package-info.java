/**
 * Workload {@code files}: threads that read blocks of cached files and check them. They are a crowd
 * without a server.
 */
package org.klatch.readers;
