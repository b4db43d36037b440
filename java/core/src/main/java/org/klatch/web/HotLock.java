package org.klatch.web;

import java.util.concurrent.locks.ReentrantLock;

/**
 * A lock that every request takes, with a choice of what a thread does while another one has it.
 */
public final class HotLock {
  /**
   * Attempts of the first tier. The 2005 study does not give its numbers, so this is our choice.
   */
  private static final int SPINS = 100;

  /** Yields of the second tier, our choice too. */
  private static final int YIELDS = 10;

  private final Waiting waiting;
  private final ReentrantLock lock = new ReentrantLock();

  /** What a thread does while the lock is taken. */
  public enum Waiting {
    /** Sleeps in the kernel until it is woken: Java's own lock, a futex on Linux. */
    PARK,
    /** Offers the CPU to others with {@code sched_yield}, and tries again. */
    YIELD,
    /** Spins, then sleeps. */
    TWO_TIERS,
    /** Spins, then yields, then sleeps: the monitors of the virtual machine in the 2005 study. */
    THREE_TIERS
  }

  /** Makes a free lock. */
  public HotLock(Waiting waiting) {
    this.waiting = waiting;
  }

  /** Takes the lock. The caller must call {@link #release}. */
  void acquire() {
    switch (waiting) {
      case PARK -> lock.lock();
      case YIELD -> {
        while (!lock.tryLock()) {
          Thread.yield();
        }
      }
      case TWO_TIERS -> {
        if (!spins()) {
          lock.lock();
        }
      }
      case THREE_TIERS -> {
        if (!spins() && !yields()) {
          lock.lock();
        }
      }
    }
  }

  void release() {
    lock.unlock();
  }

  private boolean spins() {
    for (int i = 0; i < SPINS; i++) {
      if (lock.tryLock()) {
        return true;
      }
      Thread.onSpinWait();
    }
    return false;
  }

  private boolean yields() {
    for (int i = 0; i < YIELDS; i++) {
      if (lock.tryLock()) {
        return true;
      }
      Thread.yield();
    }
    return false;
  }
}
