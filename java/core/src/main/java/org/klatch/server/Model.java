package org.klatch.server;

import java.io.IOException;
import java.util.Set;
import java.util.function.Consumer;
import org.klatch.chat.ServerState;

/** A way to serve rooms. Those that are there are found by {@link java.util.ServiceLoader}. */
public interface Model {
  /** What it is called on the command line. */
  String name();

  /** Those of {@code yield}, {@code loops} and {@code coalesce} that can be set about it. */
  Set<String> knobs();

  /** The oldest feature version of Java that will do. */
  default int javaMin() {
    return 17;
  }

  /** How it writes: {@code classic} (one write for each delivery) or {@code open}. */
  default String classWith(Options options) {
    return "classic";
  }

  /**
   * Makes a server that listens.
   *
   * @param log takes a line when there is trouble
   * @throws IOException if it cannot listen there
   */
  Server listen(Options options, ServerState state, Consumer<String> log) throws IOException;
}
