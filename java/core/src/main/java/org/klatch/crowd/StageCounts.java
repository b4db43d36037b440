package org.klatch.crowd;

/**
 * Counts by stage of a schedule. What is due is written by a sender only, and what is delivered by
 * a receiver only.
 */
public final class StageCounts {
  /** Time after the end of a stage in which its last deliveries may arrive. */
  private static final long GRACE_NS = 100_000_000;

  private final Stages stages;
  private final long[] intended;
  private final long[] inTime;
  private final Histogram[] latencyNs; // null before the first delivery

  StageCounts(Stages stages) {
    this.stages = stages;
    intended = new long[stages.count()];
    inTime = new long[stages.count()];
    latencyNs = new Histogram[stages.count()];
  }

  /** Counts a message that was due at {@code dueNs} after the opening of the gate. */
  void recordDue(long dueNs, long deliveries) {
    intended[stages.stageAt(dueNs)] += deliveries;
  }

  /** Counts a delivery; both times are ns after the opening of the gate. */
  void recordDelivery(long nowNs, long dueNs) {
    int stage = stages.stageAt(dueNs);
    if (nowNs <= stages.endNs(stage) + GRACE_NS) {
      inTime[stage]++;
    }
    latency(stage).record(nowNs - dueNs);
  }

  /** Adds all counts of {@code other}, which has the same stages. */
  void add(StageCounts other) {
    for (int stage = 0; stage < count(); stage++) {
      intended[stage] += other.intended[stage];
      inTime[stage] += other.inTime[stage];
      if (other.latencyNs[stage] != null) {
        latency(stage).add(other.latencyNs[stage]);
      }
    }
  }

  /** Number of stages. */
  public int count() {
    return intended.length;
  }

  /** Deliveries of all that was due in a stage and was sent. */
  public long intended(int stage) {
    return intended[stage];
  }

  /** Those that arrived until 0.1 s after the end of the stage. */
  public long inTime(int stage) {
    return inTime[stage];
  }

  /** Latencies of the deliveries of a stage. */
  public Histogram latencyNs(int stage) {
    return latency(stage);
  }

  private Histogram latency(int stage) {
    if (latencyNs[stage] == null) {
      latencyNs[stage] = new Histogram();
    }
    return latencyNs[stage];
  }
}
