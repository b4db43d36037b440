package org.klatch.crowd;

import java.util.ArrayList;
import java.util.List;

/**
 * When deliveries came: their latencies by interval, in at most {@value #INTERVALS_MAX} intervals
 * however long a run takes.
 *
 * <p>Several threads may share one; a crowd has a few, so that they rarely wait for each other.
 */
public final class Timeline {
  private static final long FIRST_MS = 25;
  private static final int INTERVALS_MAX = 128;
  private static final int SUB_BITS = 4; // buckets are a sixteenth wide

  private final List<Histogram> intervals = new ArrayList<>();
  private long intervalMs = FIRST_MS;
  private Histogram fresh = histogram();

  /** Counts a delivery that took {@code latencyNs} and came so long after the gate had opened. */
  synchronized void record(long sinceGateNs, long latencyNs) {
    long place;
    while ((place = sinceGateNs / (intervalMs * 1_000_000)) >= INTERVALS_MAX) {
      widen();
    }
    interval((int) place).record(latencyNs);
    fresh.record(latencyNs);
  }

  /** Moves all latencies that were counted since the last call to {@code histogram}. */
  synchronized void moveFreshTo(Histogram histogram) {
    histogram.add(fresh);
    fresh = histogram();
  }

  /** Adds all that {@code other}, which nobody uses any more, has counted. */
  void add(Timeline other) {
    while (intervalMs < other.intervalMs) {
      widen();
    }
    while (other.intervalMs < intervalMs) {
      other.widen();
    }
    for (int place = 0; place < other.intervals.size(); place++) {
      interval(place).add(other.intervals.get(place));
    }
  }

  /** Width of an interval, ms. The first one begins when the gate opens. */
  public long intervalMs() {
    return intervalMs;
  }

  /** Latencies by interval, ns. */
  public List<Histogram> intervals() {
    return intervals;
  }

  /** An empty histogram like those of the intervals. */
  static Histogram histogram() {
    return new Histogram(SUB_BITS);
  }

  private Histogram interval(int place) {
    while (intervals.size() <= place) {
      intervals.add(histogram());
    }
    return intervals.get(place);
  }

  private void widen() {
    intervalMs *= 2;
    List<Histogram> wider = new ArrayList<>();
    for (int place = 0; place < intervals.size(); place++) {
      if (place % 2 == 0) {
        wider.add(intervals.get(place));
      } else {
        wider.get(place / 2).add(intervals.get(place));
      }
    }
    intervals.clear();
    intervals.addAll(wider);
  }
}
