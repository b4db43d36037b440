package org.klatch.crowd;

/** The crowd's clock and its gate: no user sends a message before the gate opens. */
final class Gate {
  private final long startNs = System.nanoTime();
  private volatile long openedNs; // 0 while it is closed

  /** Returns the time since the crowd's start, ns. */
  long nowNs() {
    return System.nanoTime() - startNs;
  }

  void open() {
    openedNs = nowNs();
  }

  boolean isOpen() {
    return openedNs != 0;
  }

  /** Time at which it opened, ns since the crowd's start; 0 while closed. */
  long openedNs() {
    return openedNs;
  }
}
