package org.klatch.crowd;

/**
 * Options of a crowd: the server's address and the workload.
 *
 * @param host the server's name or address
 * @param port the server's port, 1–65535
 * @param rooms number of rooms
 * @param users users in each room, at least 2
 * @param count messages of each user; most of them with a duration
 * @param durationNs time for which users send, ns; 0 to send {@code count} messages
 * @param start number of the first room, from 1
 * @param size bytes of a message's text
 * @param pacing rule for when a user sends
 * @param window most rounds that a user may be ahead of the others; for {@code rounds}
 * @param rate messages a second of each user; for {@code rate} without stages, else 0
 * @param stages of the schedules, in place of the rate; null at a constant rate
 * @param poisson whether the intervals of the schedules are exponential; for {@code rate}
 * @param pauseNs least time between two messages of a user, ns; 0 for {@code rate}
 * @param timeoutNs time without progress after which the crowd fails, ns
 * @param connectTimeoutMs time-out of one connect, ms
 * @param yield whether threads yield after each packet received and each batch sent
 * @param seed of the schedules, unsigned; for {@code rate}
 * @param transport what carries the lines
 */
public record Options(
    String host,
    int port,
    int rooms,
    int users,
    int count,
    long durationNs,
    int start,
    int size,
    Pacing pacing,
    int window,
    double rate,
    Stages stages,
    boolean poisson,
    long pauseNs,
    long timeoutNs,
    int connectTimeoutMs,
    boolean yield,
    long seed,
    Transport transport) {

  /** Most messages of a user: more than a day of them. */
  public static final int COUNT_MAX = 100_000_000;

  /** Whether users stop at a moment, whatever they have sent. */
  boolean stopsAtAMoment() {
    return durationNs > 0 && pacing != Pacing.RATE;
  }

  /** The schedule of a user; null unless the pacing is {@code rate}. */
  Schedule schedule(int room, int user) {
    return pacing == Pacing.RATE ? new Schedule(seed, room, user, rate, poisson, stages) : null;
  }

  /** Messages that a user sends: under {@code rate}, those that are due before the end. */
  int countOf(int room, int user) {
    Schedule schedule = schedule(room, user);
    if (durationNs == 0 || schedule == null) {
      return count;
    }
    int due = 0;
    while (due < count && schedule.dueNs(due) < durationNs) {
      due++;
    }
    return due;
  }

  /** Messages that the whole crowd sends, without a duration. */
  public long expectedSent() {
    return (long) rooms * users * count;
  }

  /** Deliveries that the whole crowd receives. */
  public long expectedReceived() {
    return expectedSent() * (users - 1);
  }
}
