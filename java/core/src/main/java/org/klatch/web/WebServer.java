package org.klatch.web;

import java.io.IOException;
import org.klatch.exchange.web.Responder;
import org.klatch.server.Server;

/**
 * A server of another project. {@link java.util.ServiceLoader} lists those of a jar.
 *
 * <p>Each has both kinds of threads, keeps connections open without a limit, and writes no access
 * log.
 */
public interface WebServer {
  /** Its name on the command line. */
  String name();

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
