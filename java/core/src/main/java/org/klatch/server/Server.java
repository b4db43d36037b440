package org.klatch.server;

import java.io.Closeable;

/** A listening server. {@link #run} serves its connections. */
public interface Server extends Closeable {
  /** The bound port, also if port 0 was requested. */
  int port();

  /** Accepts and serves connections until {@link #close}. */
  void run();
}
