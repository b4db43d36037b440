package org.klatch.web;

import java.io.Closeable;
import java.io.IOException;
import java.util.concurrent.CountDownLatch;
import org.klatch.server.Server;

/** A server that has threads of its own, so that {@link #run} only waits for the end. */
public final class StartedServer implements Server {
  private final int port;
  private final Closeable stop;
  private final CountDownLatch closed = new CountDownLatch(1);

  /**
   * Wraps a server that listens.
   *
   * @param stop closes it
   */
  public StartedServer(int port, Closeable stop) {
    this.port = port;
    this.stop = stop;
  }

  @Override
  public int port() {
    return port;
  }

  @Override
  public void run() {
    try {
      closed.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void close() throws IOException {
    closed.countDown();
    stop.close();
  }
}
