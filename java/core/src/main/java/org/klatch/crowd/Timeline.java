package org.klatch.crowd;

import java.util.ArrayList;
import java.util.List;

/**
 * Delivery latencies by time interval. There are at most {@value #INTERVALS_MAX} intervals, which
 * double their width as a run gets longer.
 *
 * <p>Thread-safe. A crowd has several, so that its threads rarely contend for one.
 */
public final class Timeline {
  private static final long FIRST_MS = 25;
  private static final int INTERVALS_MAX = 128;
  private static final int SUB_BITS = 4; // 16 buckets for each power of two

  private final List<Histogram> intervals = new ArrayList<>();
  private long intervalMs = FIRST_MS;
  private Histogram unreported = histogram();

  /** Counts a delivery at {@code sinceGateNs} after the opening of the gate. */
  synchronized void record(long sinceGateNs, long latencyNs) {
    interval(indexOf(sinceGateNs)).record(latencyNs);
    unreported.record(latencyNs);
  }

  /** Counts the deliveries of a part of one interval, at {@code sinceGateNs} and later. */
  synchronized void record(long sinceGateNs, Histogram latencies) {
    interval(indexOf(sinceGateNs)).add(latencies);
    unreported.add(latencies);
  }

  /** Returns the end of the interval at {@code sinceGateNs}, also since the gate opened, ns. */
  synchronized long endNs(long sinceGateNs) {
    return (indexOf(sinceGateNs) + 1) * (intervalMs * 1_000_000);
  }

  /** Moves the latencies counted since the last call to {@code histogram}. */
  synchronized void moveUnreportedTo(Histogram histogram) {
    histogram.add(unreported);
    unreported = histogram();
  }

  /** Adds the counts of {@code other}, which must no longer be in use. */
  public void add(Timeline other) {
    while (intervalMs < other.intervalMs) {
      widen();
    }
    while (other.intervalMs < intervalMs) {
      other.widen();
    }
    for (int index = 0; index < other.intervals.size(); index++) {
      interval(index).add(other.intervals.get(index));
    }
  }

  /** Width of the intervals, ms. The first one starts when the gate opens. */
  public long intervalMs() {
    return intervalMs;
  }

  /** Latencies by interval, ns. */
  public List<Histogram> intervals() {
    return intervals;
  }

  /** Creates an empty histogram with the resolution of the intervals. */
  static Histogram histogram() {
    return new Histogram(SUB_BITS);
  }

  /** The number of an interval, after as much widening as it needs. */
  private int indexOf(long sinceGateNs) {
    long index;
    while ((index = sinceGateNs / (intervalMs * 1_000_000)) >= INTERVALS_MAX) {
      widen();
    }
    return (int) index;
  }

  private Histogram interval(int index) {
    while (intervals.size() <= index) {
      intervals.add(histogram());
    }
    return intervals.get(index);
  }

  private void widen() {
    intervalMs *= 2;
    List<Histogram> wider = new ArrayList<>();
    for (int index = 0; index < intervals.size(); index++) {
      if (index % 2 == 0) {
        wider.add(intervals.get(index));
      } else {
        wider.get(index / 2).add(intervals.get(index));
      }
    }
    intervals.clear();
    intervals.addAll(wider);
  }
}
