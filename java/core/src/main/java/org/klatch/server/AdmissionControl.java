package org.klatch.server;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** Limits the number of connections that have not registered, and the time each may take. */
public final class AdmissionControl {
  /** A connection that has not registered. */
  public interface Connection {
    /** Closes it because its time is up. Called at most once, by the timer's thread. */
    void expire();
  }

  private final int max;
  private final long timeoutNs;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition first = lock.newCondition();
  private final Map<Connection, Long> deadlines = new LinkedHashMap<>(); // earliest first

  /** Creates an empty set. No connection expires before {@link #startTimer}. */
  public AdmissionControl(Options options) {
    max = options.halfOpenMax();
    timeoutNs = options.registrationTimeoutS() * 1_000_000_000L;
  }

  /** Adds a connection and starts its time; false if the limit is reached. */
  public boolean admit(Connection connection) {
    lock.lock();
    try {
      if (deadlines.size() >= max) {
        return false;
      }
      deadlines.put(connection, System.nanoTime() + timeoutNs);
      if (deadlines.size() == 1) {
        first.signal();
      }
      return true;
    } finally {
      lock.unlock();
    }
  }

  /** Removes a connection that has registered or ended. */
  public void release(Connection connection) {
    lock.lock();
    try {
      deadlines.remove(connection);
    } finally {
      lock.unlock();
    }
  }

  /** Starts the thread that expires connections at their deadline, until it is interrupted. */
  public Thread startTimer() {
    Thread timer = new Thread(this::expireConnections, "registration timer");
    timer.setDaemon(true);
    timer.start();
    return timer;
  }

  private void expireConnections() {
    try {
      while (true) {
        awaitExpired().expire();
      }
    } catch (InterruptedException e) {
      // the server was closed
    }
  }

  private Connection awaitExpired() throws InterruptedException {
    lock.lock();
    try {
      while (true) {
        if (deadlines.isEmpty()) {
          first.await();
          continue;
        }
        Map.Entry<Connection, Long> next = deadlines.entrySet().iterator().next();
        long leftNs = next.getValue() - System.nanoTime();
        if (leftNs <= 0) {
          deadlines.remove(next.getKey());
          return next.getKey();
        }
        first.awaitNanos(leftNs);
      }
    } finally {
      lock.unlock();
    }
  }
}
