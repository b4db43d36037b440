package org.klatch.web;

/**
 * Options of a server of another project.
 *
 * @param host the address to listen on
 * @param port the port to listen on; 0 for any free port
 * @param threads the threads that handle requests
 * @param pool number of threads in the server's pool, or that carry virtual threads
 */
public record WebServerOptions(String host, int port, ThreadKind threads, int pool) {
  /** Length of the queue of connections that the server has not accepted. */
  public static final int BACKLOG = 4096;

  /** Whether requests are handled by virtual threads. */
  public boolean isVirtual() {
    return threads == ThreadKind.VIRTUAL;
  }
}
