package org.klatch.crowd;

/** Receives a crowd's events and decides when it continues. Called by one thread. */
public interface Control {
  /**
   * Reports the number of users that have joined; at most twice a second, and only when it grows.
   */
  void joining(int joined, int users);

  /** Reports that all users have joined, {@code joinS} seconds after the first connect. */
  void joined(double joinS);

  /** Waits for permission to open the gate; returns a reason to stop instead, or null. */
  String awaitGo() throws InterruptedException;

  /**
   * Reports the messages sent and deliveries verified so far, the expected sum of both, and the
   * latencies of the deliveries since the last call.
   */
  void progress(long sent, long received, long expected, Histogram latencyNs);

  /**
   * Reports a complete pause, once for each pause: the messages sent and deliveries verified so
   * far, the time from the opening of the gate to the last delivery without earlier pauses, and the
   * latencies of the deliveries since the last call.
   */
  void paused(long sent, long received, long activeNs, Histogram latencyNs);

  /** Reports the last delivery or a failure; all threads and connections still exist. */
  void done();

  /** Waits for permission to close the connections; returns a reason to stop, or null. */
  String awaitQuit() throws InterruptedException;
}
