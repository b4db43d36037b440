package org.klatch.server;

import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Limits the number of connections that have not registered, the time each may take, and the time
 * that a registered one may take to complete a request, or to take bytes.
 */
public final class AdmissionControl {
  /** A connection whose time is limited. */
  public interface Connection {
    /** Closes it because its time is up. Called by the timer's thread. */
    void expire();
  }

  private final int max;
  private final long timeoutNs;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition first = lock.newCondition();
  private final Map<Connection, Long> deadlines = new LinkedHashMap<>(); // earliest first
  private final Set<Connection> halfOpen = new HashSet<>();

  /** Creates an empty set. No connection expires before {@link #startTimer}. */
  public AdmissionControl(Options options) {
    max = options.halfOpenMax();
    timeoutNs = options.registrationTimeoutS() * 1_000_000_000L;
  }

  /** Adds a connection and starts its time; false if the limit is reached. */
  public boolean admit(Connection connection) {
    lock.lock();
    try {
      if (halfOpen.size() >= max) {
        return false;
      }
      halfOpen.add(connection);
      deadlines.put(connection, System.nanoTime() + timeoutNs);
      if (deadlines.size() == 1) {
        first.signal();
      }
      return true;
    } finally {
      lock.unlock();
    }
  }

  /** Starts the time of a connection anew that is registered: it owes something else. */
  public void restart(Connection connection) {
    lock.lock();
    try {
      deadlines.remove(connection); // it goes to the end of the order
      deadlines.put(connection, System.nanoTime() + timeoutNs);
      first.signal();
    } finally {
      lock.unlock();
    }
  }

  /** Removes a connection that has registered, done what it owed, or ended. */
  public void release(Connection connection) {
    lock.lock();
    try {
      deadlines.remove(connection);
      halfOpen.remove(connection);
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
        expire(awaitExpired());
      }
    } catch (InterruptedException e) {
      // the server was closed
    }
  }

  /** One connection must not end the timer of the others. */
  private static void expire(Connection connection) {
    try {
      connection.expire();
    } catch (RuntimeException e) {
      // its loop has ended, and the connection with it
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
          halfOpen.remove(next.getKey());
          return next.getKey();
        }
        first.awaitNanos(leftNs);
      }
    } finally {
      lock.unlock();
    }
  }
}
