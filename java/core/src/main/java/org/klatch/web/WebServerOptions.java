package org.klatch.web;

import java.util.Optional;

/**
 * Options of a server of another project.
 *
 * @param host the address to listen on
 * @param port the port to listen on; 0 for any free port
 * @param threads the threads that handle requests
 * @param pool number of threads in the server's pool, or that carry virtual threads
 * @param certificate the files of a server with TLS
 * @param http2 whether clients may speak HTTP/2: with TLS as they agree in ALPN, else without an
 *     upgrade from HTTP/1.1
 */
public record WebServerOptions(
    String host,
    int port,
    ThreadKind threads,
    int pool,
    Optional<ServerCertificate> certificate,
    boolean http2) {
  /** Length of the queue of connections that the server has not accepted. */
  public static final int BACKLOG = 4096;

  /** Time for a request to arrive, ms, in servers that can have one without a limit between two. */
  public static final int REQUEST_TIMEOUT_MS = 30_000;

  /** Options without TLS and HTTP/2. */
  public WebServerOptions(String host, int port, ThreadKind threads, int pool) {
    this(host, port, threads, pool, Optional.empty(), false);
  }

  /** Whether requests are handled by virtual threads. */
  public boolean isVirtual() {
    return threads == ThreadKind.VIRTUAL;
  }
}
