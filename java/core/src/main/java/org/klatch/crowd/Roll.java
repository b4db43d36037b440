package org.klatch.crowd;

import java.util.function.BooleanSupplier;

/** What happened to the users, each at most once: who joined, who is done, what failed first. */
final class Roll {
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

  /** A user has heard everything. */
  synchronized void done() {
    done++;
    notifyAll();
  }

  /** Only the first failure is kept: the others follow from it. */
  synchronized void failed(Failure what) {
    if (failure == null) {
      failure = what;
      notifyAll();
    }
  }

  synchronized boolean anyConnected() {
    return connected > 0;
  }

  synchronized Failure failure() {
    return failure;
  }

  /** Waits until {@code count} have joined; false after {@code timeoutMs} or a failure. */
  synchronized boolean awaitJoined(int count, long timeoutMs) throws InterruptedException {
    return await(() -> joined >= count, timeoutMs);
  }

  /** Waits until {@code count} are done; false after {@code timeoutMs} or a failure. */
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
