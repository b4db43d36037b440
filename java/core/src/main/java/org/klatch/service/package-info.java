/** The interface between the I/O models and the workloads: it names no socket and no protocol. */
package org.klatch.service;
