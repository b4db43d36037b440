package org.klatch.crowd;

/** Detects that a progress counter has not changed for a time limit. */
final class StallTimer {
  private final long limitNs;
  private long lastChangeNs = System.nanoTime();
  private long last;

  StallTimer(long limitNs) {
    this.limitNs = limitNs;
  }

  /** Leaves out a time in which the crowd did not run, ns. */
  void extend(long gapNs) {
    lastChangeNs += gapNs;
  }

  /** Whether {@code progress} has been the same for the time limit. */
  boolean isStalled(long progress) {
    long nowNs = System.nanoTime();
    if (progress != last) {
      last = progress;
      lastChangeNs = nowNs;
    }
    return nowNs - lastChangeNs >= limitNs;
  }
}
