package org.klatch.server;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** The connections that have not registered: how many there may be, and for how long. */
public final class HalfOpen {
  /** A connection that has not registered. */
  public interface Guest {
    /** Closes it because it has not registered in time; from a thread of its own, once. */
    void expire();
  }

  private final int max;
  private final long timeoutNs;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition first = lock.newCondition();
  private final Map<Guest, Long> deadlines = new LinkedHashMap<>(); // the first is the next

  /** Nobody is there yet, and nobody expires before {@link #startWatch}. */
  public HalfOpen(Options options) {
    max = options.halfOpenMax();
    timeoutNs = options.registrationTimeoutS() * 1_000_000_000L;
  }

  /** Comes in, and its time begins; false if too many are here. */
  public boolean enter(Guest guest) {
    lock.lock();
    try {
      if (deadlines.size() >= max) {
        return false;
      }
      deadlines.put(guest, System.nanoTime() + timeoutNs);
      if (deadlines.size() == 1) {
        first.signal();
      }
      return true;
    } finally {
      lock.unlock();
    }
  }

  /** It has registered, or it is gone. */
  public void left(Guest guest) {
    lock.lock();
    try {
      deadlines.remove(guest);
    } finally {
      lock.unlock();
    }
  }

  /** Starts the thread that expires connections when their time has come, until interrupted. */
  public Thread startWatch() {
    Thread watch = new Thread(this::watch, "registration watch");
    watch.setDaemon(true);
    watch.start();
    return watch;
  }

  private void watch() {
    try {
      while (true) {
        awaitOne().expire();
      }
    } catch (InterruptedException e) {
      // told to end
    }
  }

  private Guest awaitOne() throws InterruptedException {
    lock.lock();
    try {
      while (true) {
        if (deadlines.isEmpty()) {
          first.await();
          continue;
        }
        Map.Entry<Guest, Long> next = deadlines.entrySet().iterator().next();
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
