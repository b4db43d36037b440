package org.klatch.crowd;

/** Who starts a crowd hears of these moments, and says when it goes on. Called by one thread. */
public interface Control {
  /**
   * Some users have joined and others have not; called about twice a second, when there are more.
   */
  void joining(int joined, int users);

  /** Every user has joined, {@code joinS} seconds after the first began to connect. */
  void joined(double joinS);

  /** Waits for leave to open the gate; returns why the crowd is to stop instead, or null. */
  String awaitGo() throws InterruptedException;

  /**
   * Messages said and deliveries verified so far, the sum of both at the end, and the latencies of
   * the deliveries since this was called before.
   */
  void progress(long sent, long received, long expected, Histogram latencyNs);

  /** The last verified delivery has come, or the crowd gave up; all threads are still there. */
  void done();

  /** Waits for leave to close the connections; returns why the crowd is to stop, or null. */
  String awaitQuit() throws InterruptedException;
}
