package org.klatch.web;

import java.io.IOException;
import java.util.Set;
import org.klatch.exchange.web.Responder;
import org.klatch.server.Server;

/**
 * A server of another project. {@link java.util.ServiceLoader} lists those of a jar.
 *
 * <p>Each keeps connections open without a limit, and writes no access log.
 */
public interface WebServer {
  /** Its name on the command line. */
  String name();

  /** Whether it speaks HTTP/1.0, which 30 % of the sessions of workload web use. */
  default boolean speaksHttp10() {
    return true;
  }

  /** Whether it speaks HTTP/2. */
  default boolean speaksHttp2() {
    return true;
  }

  /** The kinds of threads that can handle its requests. */
  default Set<ThreadKind> threadKinds() {
    return Set.of(ThreadKind.PLATFORM, ThreadKind.VIRTUAL);
  }

  /** Whether its platform threads are event loops, unless the replies block. */
  default boolean hasEventLoops() {
    return false;
  }

  /**
   * Starts the server.
   *
   * @param responder makes the replies
   * @throws IOException if the address cannot be bound
   */
  Server listen(WebServerOptions options, Responder responder) throws IOException;
}
