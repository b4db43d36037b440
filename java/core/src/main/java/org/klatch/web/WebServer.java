package org.klatch.web;

import java.io.IOException;
import java.util.List;
import org.klatch.exchange.web.Site;
import org.klatch.server.Server;

/**
 * A server of another project. {@link java.util.ServiceLoader} lists those of a jar.
 *
 * <p>All of them keep connections open without a limit and write no access log.
 */
public interface WebServer {
  /** Its name on the command line. */
  String name();

  /** The kinds of threads that can handle its requests. The first is the default. */
  List<ThreadKind> threads();

  /** Default size of the pool of platform threads. */
  int poolDefault();

  /**
   * Starts the server.
   *
   * @param site makes the replies
   * @throws IOException if the address cannot be bound
   */
  Server listen(WebServerOptions options, Site site) throws IOException;
}
