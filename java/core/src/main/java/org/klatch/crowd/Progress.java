package org.klatch.crowd;

import java.util.function.BooleanSupplier;

/** Counts the users that have connected, joined and finished, and stores the first failure. */
final class Progress {
  private int connected;
  private int joined;
  private int done;
  private Failure failure;

  synchronized void connected() {
    connected++;
  }

  synchronized void joined() {
    joined++;
    notifyAll();
  }

  /** Counts a user that has all its deliveries. */
  synchronized void done() {
    done++;
    notifyAll();
  }

  /** Records a failure. Later ones are ignored, because they usually follow from the first. */
  synchronized void failed(Failure first) {
    if (failure == null) {
      failure = first;
      notifyAll();
    }
  }

  synchronized boolean anyConnected() {
    return connected > 0;
  }

  synchronized Failure failure() {
    return failure;
  }

  /** Waits until {@code count} users have joined; false after {@code timeoutMs} or a failure. */
  synchronized boolean awaitJoined(int count, long timeoutMs) throws InterruptedException {
    return await(() -> joined >= count, timeoutMs);
  }

  /** Waits until {@code count} users are done; false after {@code timeoutMs} or a failure. */
  synchronized boolean awaitDone(int count, long timeoutMs) throws InterruptedException {
    return await(() -> done >= count, timeoutMs);
  }

  private synchronized boolean await(BooleanSupplier condition, long timeoutMs)
      throws InterruptedException {
    long endNs = System.nanoTime() + timeoutMs * 1_000_000;
    long leftMs = timeoutMs;
    while (!condition.getAsBoolean() && failure == null && leftMs > 0) {
      wait(leftMs);
      leftMs = (endNs - System.nanoTime()) / 1_000_000;
    }
    return condition.getAsBoolean() && failure == null;
  }

  synchronized int joinedCount() {
    return joined;
  }
}
