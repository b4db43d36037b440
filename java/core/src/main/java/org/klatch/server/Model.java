package org.klatch.server;

import java.io.IOException;
import java.util.Set;
import java.util.function.Consumer;
import org.klatch.service.Service;

/** A concurrency model of the server. {@link java.util.ServiceLoader} lists the models of a jar. */
public interface Model {
  /** Its name on the command line. */
  String name();

  /**
   * The options among {@code yield}, {@code loops}, {@code coalesce} and {@code io} that it
   * supports.
   */
  Set<String> knobs();

  /** The oldest feature version of Java that it runs on. */
  default int javaMin() {
    return 17;
  }

  /**
   * Whether its servers have a WebSocket of their own. They get a service of lines, and serve no
   * other transport.
   */
  default boolean hasWebSocket() {
    return false;
  }

  /** Its class: {@code classic} (one write for each delivery) or {@code open}. */
  default String classWith(Options options) {
    return "classic";
  }

  /**
   * Creates a server that listens.
   *
   * @param service handles the input of its connections
   * @param log receives a line for each error
   * @throws IOException if the address cannot be bound
   * @throws OptionRefused if an option cannot be in force here
   */
  Server listen(Options options, Service service, Consumer<String> log) throws IOException;
}
