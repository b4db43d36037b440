package org.klatch.crowd;

/**
 * Options of a crowd: the server's address and the workload.
 *
 * @param host the server's name or address
 * @param port the server's port, 1–65535
 * @param rooms number of rooms
 * @param users users in each room, at least 2
 * @param count messages of each user
 * @param start number of the first room, from 1
 * @param size bytes of a message's text
 * @param pacing rule for when a user sends
 * @param window most rounds that a user may be ahead of the others; for {@code rounds}
 * @param rate messages a second of each user; for {@code rate}, else 0
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
    int start,
    int size,
    Pacing pacing,
    int window,
    double rate,
    long pauseNs,
    long timeoutNs,
    int connectTimeoutMs,
    boolean yield,
    long seed,
    Transport transport) {

  /** Messages that the whole crowd sends. */
  public long expectedSent() {
    return (long) rooms * users * count;
  }

  /** Deliveries that the whole crowd receives. */
  public long expectedReceived() {
    return expectedSent() * (users - 1);
  }
}
