package org.klatch.server;

import java.io.Closeable;

/** A server that listens; connections are served from {@link #run} on. */
public interface Server extends Closeable {
  /** The port it listens on. */
  int port();

  /** Accepts and serves connections until it is closed. */
  void run();
}
