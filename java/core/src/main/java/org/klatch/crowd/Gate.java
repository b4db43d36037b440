package org.klatch.crowd;

/** The crowd's clock, and the gate that nobody speaks before. */
final class Gate {
  private final long startNs = System.nanoTime();
  private volatile long openedNs; // 0 while it is closed

  /** ns since the crowd's start. */
  long nowNs() {
    return System.nanoTime() - startNs;
  }

  void open() {
    openedNs = nowNs();
  }

  boolean isOpen() {
    return openedNs != 0;
  }

  /** When it opened, ns since the crowd's start; 0 if it has not. */
  long openedNs() {
    return openedNs;
  }
}
