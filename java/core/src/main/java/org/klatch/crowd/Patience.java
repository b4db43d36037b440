package org.klatch.crowd;

/** How long nothing may change. */
final class Patience {
  private final long limitNs;
  private long lastChangeNs = System.nanoTime();
  private long last;

  Patience(long limitNs) {
    this.limitNs = limitNs;
  }

  /** Whether {@code progress} has not changed for longer than that. */
  boolean endsWith(long progress) {
    long nowNs = System.nanoTime();
    if (progress != last) {
      last = progress;
      lastChangeNs = nowNs;
    }
    return nowNs - lastChangeNs >= limitNs;
  }
}
