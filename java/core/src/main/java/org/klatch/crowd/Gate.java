package org.klatch.crowd;

/**
 * The crowd's clock and its gate: no user begins a message, and no reader a read, while the gate is
 * closed.
 *
 * <p>A pause closes the gate, and stops the clock once every message sent is delivered. One thread
 * opens and closes; all threads read.
 */
public final class Gate {
  private volatile Clock clock = new Clock(System.nanoTime(), false, 0);
  private volatile long openedNs; // 0 before the first opening
  private volatile boolean open;

  /** A state of the clock: it runs from {@code startNs}, or stands still at {@code stoppedNs}. */
  private static final class Clock {
    private final long startNs;
    private final boolean stopped;
    private final long stoppedNs;

    Clock(long startNs, boolean stopped, long stoppedNs) {
      this.startNs = startNs;
      this.stopped = stopped;
      this.stoppedNs = stoppedNs;
    }

    long nowNs() {
      return stopped ? stoppedNs : System.nanoTime() - startNs;
    }
  }

  /** Returns the time since the crowd's start without the pauses, ns. */
  public long nowNs() {
    while (true) {
      Clock before = clock;
      long nowNs = before.nowNs();
      if (before == clock) { // else the time could contain a part of a pause
        return nowNs;
      }
    }
  }

  /** Opens the gate for the first time. */
  void open() {
    openedNs = nowNs();
    open = true;
  }

  /** Closes the gate for a pause. The clock goes on. */
  void close() {
    open = false;
  }

  /** Stops the clock at {@code ns}, which may be shortly before now. */
  void stopClock(long ns) {
    clock = new Clock(0, true, ns);
  }

  /** Starts the clock where it stopped, and opens the gate again. */
  void reopen() {
    clock = new Clock(System.nanoTime() - clock.nowNs(), false, 0);
    open = true;
  }

  /** Whether a party may begin something. */
  public boolean isOpen() {
    return open;
  }

  /** Whether a pause has closed it. */
  public boolean isPausing() {
    return !open && openedNs != 0;
  }

  /** Time at which it first opened, ns since the crowd's start; 0 before. */
  public long openedNs() {
    return openedNs;
  }
}
