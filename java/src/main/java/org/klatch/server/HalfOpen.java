package org.klatch.server;

import java.util.LinkedHashMap;
import java.util.Map;

/** The connections that have not registered: how many there may be, and for how long. */
final class HalfOpen {
  private final int max;
  private final long timeoutNs;
  private final Map<Connection, Long> deadlines = new LinkedHashMap<>(); // the first is the next

  HalfOpen(int max, int timeoutS) {
    this.max = max;
    timeoutNs = timeoutS * 1_000_000_000L;
  }

  synchronized boolean full() {
    return deadlines.size() >= max;
  }

  synchronized void entered(Connection connection) {
    deadlines.put(connection, System.nanoTime() + timeoutNs);
    notifyAll();
  }

  /** It has registered, or it is gone. */
  synchronized void left(Connection connection) {
    deadlines.remove(connection);
  }

  /** Expires connections when their time has come; never returns. */
  void watch() {
    try {
      while (true) {
        awaitOne().expire();
      }
    } catch (InterruptedException e) {
      // told to end
    }
  }

  private synchronized Connection awaitOne() throws InterruptedException {
    while (true) {
      if (deadlines.isEmpty()) {
        wait();
        continue;
      }
      Map.Entry<Connection, Long> first = deadlines.entrySet().iterator().next();
      long leftNs = first.getValue() - System.nanoTime();
      if (leftNs <= 0) {
        deadlines.remove(first.getKey());
        return first.getKey();
      }
      wait(leftNs / 1_000_000 + 1);
    }
  }
}
