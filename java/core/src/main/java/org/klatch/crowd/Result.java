package org.klatch.crowd;

import java.util.List;

/**
 * What a crowd found.
 *
 * @param sent messages said
 * @param received deliveries verified, each message once for each listener
 * @param elapsedS from the opening of the gate to the last verified delivery, seconds
 * @param joinS from the first connect to the last join, seconds
 * @param latencyNs delivery latencies, ns
 * @param sendLagNs how late messages were handed to the socket, ns; pacing {@code rate} only
 * @param overTime latencies by the interval in which deliveries came
 * @param faults what is wrong with the deliveries
 * @param strangers who else was in the rooms, at most 20
 * @param failure why the crowd gave up, or null
 */
public record Result(
    long sent,
    long received,
    double elapsedS,
    double joinS,
    Histogram latencyNs,
    Histogram sendLagNs,
    Timeline overTime,
    Faults faults,
    List<Stranger> strangers,
    Failure failure) {

  /** Whether every message was said and delivered as it should be. */
  public boolean valid() {
    return faults.isEmpty() && failure == null;
  }

  /** (sent + received) / elapsed, messages a second; 0 if nothing was received. */
  public double score() {
    return elapsedS > 0 ? (sent + received) / elapsedS : 0;
  }
}
