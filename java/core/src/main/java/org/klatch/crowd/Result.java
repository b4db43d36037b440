package org.klatch.crowd;

import java.util.List;

/**
 * The result of a crowd.
 *
 * @param sent messages sent, or reads begun
 * @param received deliveries verified, each message once for each listener; or blocks
 * @param elapsedS time from the opening of the gate to the last verified delivery, without pauses,
 *     seconds
 * @param joinS time from the first connect to the last join, seconds
 * @param latencyNs delivery latencies, ns
 * @param sendLagNs delays of sends behind the schedule, ns; pacing {@code rate} only
 * @param overTime delivery latencies by interval
 * @param stages counts by stage of the schedules; null without stages
 * @param faults faults of the deliveries
 * @param strangers other users in the rooms, at most 20
 * @param parties how reads are spread over the readers; null for users in rooms
 * @param tls what TLS agreed to on the first connection with TLS; null without
 * @param finished whether a command ended the run, so that messages not sent are no fault
 * @param gaps times in which the crowd did not run, the longest ones
 * @param failure the reason why the crowd ended early, or null
 */
public record Result(
    long sent,
    long received,
    double elapsedS,
    double joinS,
    Histogram latencyNs,
    Histogram sendLagNs,
    Timeline overTime,
    StageCounts stages,
    Faults faults,
    List<Stranger> strangers,
    PartyCounts parties,
    TlsSession tls,
    boolean finished,
    List<Gap> gaps,
    Failure failure) {

  /** This result with these gaps. */
  Result with(List<Gap> gaps) {
    return new Result(
        sent, received, elapsedS, joinS, latencyNs, sendLagNs, overTime, stages, faults, strangers,
        parties, tls, finished, gaps, failure);
  }

  /**
   * Whether every message was sent, unless a command ended the run, and delivered without a fault.
   */
  public boolean valid() {
    return faults.isEmpty() && failure == null;
  }

  /** Score: (sent + received) / elapsed, messages a second; 0 if nothing was received. */
  public double score() {
    return elapsedS > 0 ? (sent + received) / elapsedS : 0;
  }
}
