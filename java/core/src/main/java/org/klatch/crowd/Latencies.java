package org.klatch.crowd;

/**
 * The latencies of one thread, in all and by time interval. Those of the current interval are in a
 * histogram of their own, so that recording one takes no lock.
 *
 * <p>Belongs to the thread, except {@link #moveUnreportedTo}.
 */
public final class Latencies {
  private final Timeline timeline = new Timeline();
  private final Histogram ended = new Histogram(); // of the intervals that have ended
  private Histogram current = new Histogram();
  private long currentNs; // a time in the current interval, since the gate opened
  private long currentEndNs;

  /** Counts a delivery at {@code sinceGateNs} after the opening of the gate. */
  public void record(long sinceGateNs, long latencyNs) {
    if (sinceGateNs >= currentEndNs) {
      endInterval();
      currentNs = sinceGateNs;
      currentEndNs = timeline.endNs(sinceGateNs);
    }
    current.record(latencyNs);
  }

  /** Adds all latencies to {@code all}. */
  public void addTo(Histogram all) {
    all.add(ended);
    all.add(current);
  }

  /**
   * Moves the latencies of the intervals that have ended since the last call to {@code histogram}.
   * Any thread.
   */
  public void moveUnreportedTo(Histogram histogram) {
    timeline.moveUnreportedTo(histogram);
  }

  /** Ends the current interval, and returns the latencies of all intervals. */
  public Timeline overTime() {
    endInterval();
    return timeline;
  }

  private void endInterval() {
    timeline.record(currentNs, current);
    ended.add(current);
    current = new Histogram();
  }
}
