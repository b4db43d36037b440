/** The I/O models: they connect sockets and threads to the chat core. */
package org.klatch.server;
