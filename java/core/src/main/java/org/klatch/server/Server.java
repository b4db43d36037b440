package org.klatch.server;

import java.io.Closeable;

/** A listening server. {@link #run} serves its connections. */
public interface Server extends Closeable {
  /** The bound port, also if port 0 was requested. */
  int port();

  /** The mechanism with which it waits for its connections; null for a model without a choice. */
  default String io() {
    return null;
  }

  /** Accepts and serves connections until {@link #close}. */
  void run();
}
