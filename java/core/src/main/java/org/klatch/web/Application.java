package org.klatch.web;

import java.io.IOException;
import org.klatch.exchange.web.Responder;

/**
 * An application on a database, which any {@link WebServer} can serve. {@link
 * java.util.ServiceLoader} lists those of a jar.
 */
public interface Application {
  /** The workload that it serves, as on the command line. */
  String workload();

  /**
   * Connects to the database and opens the application.
   *
   * @throws IOException if the database cannot be used; the message says why and what to do
   */
  Responder open(ApplicationOptions options) throws IOException;

  /**
   * Looks for broken rules in the database of an application that has ended.
   *
   * @return what it finds, as one JSON object
   * @throws IOException if the database cannot be read; the message says why and what to do
   */
  String audit(ApplicationOptions options) throws IOException;
}
