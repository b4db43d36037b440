package org.klatch.server;

/**
 * How a server runs. A model looks only at the knobs that it has.
 *
 * @param host the address to listen on
 * @param port the port to listen on; 0 for any free one
 * @param nodelay whether TCP_NODELAY is set on every connection
 * @param yield whether threads yield after each packet received and each batch sent
 * @param loops threads that run event loops, or carry virtual threads
 * @param coalesce whether an event loop puts the deliveries of one turn into one write
 * @param sendqBytes bytes that may wait for one connection before it is closed
 * @param registrationTimeoutS seconds that a connection may take to register
 * @param halfOpenMax connections that may be there without having registered
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
    int halfOpenMax) {}
