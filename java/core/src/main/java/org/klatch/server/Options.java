package org.klatch.server;

/**
 * Options of a server. A model ignores the knobs that it does not support.
 *
 * @param host the address to listen on
 * @param port the port to listen on; 0 for any free port
 * @param nodelay whether TCP_NODELAY is set on every connection
 * @param yield whether threads yield after each packet received and each batch sent
 * @param loops threads that run event loops, or carry virtual threads
 * @param coalesce whether an event loop batches the deliveries of one turn into one write
 * @param sendqBytes most bytes in the send queue of a connection; beyond them it is closed
 * @param registrationTimeoutS seconds that a client may take to register, to complete a request of
 *     which a part has arrived, and to take any of the bytes that wait for it
 * @param halfOpenMax most connections that have not registered
 * @param io the mechanism with which a model waits for its connections, of one with a choice; empty
 *     for the best that loads
 */
public record Options(
    String host,
    int port,
    boolean nodelay,
    boolean yield,
    int loops,
    boolean coalesce,
    int sendqBytes,
    int registrationTimeoutS,
    int halfOpenMax,
    String io) {
  /** Options without a choice of the mechanism. */
  public Options(
      String host,
      int port,
      boolean nodelay,
      boolean yield,
      int loops,
      boolean coalesce,
      int sendqBytes,
      int registrationTimeoutS,
      int halfOpenMax) {
    this(
        host,
        port,
        nodelay,
        yield,
        loops,
        coalesce,
        sendqBytes,
        registrationTimeoutS,
        halfOpenMax,
        "");
  }
}
