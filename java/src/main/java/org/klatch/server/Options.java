package org.klatch.server;

/**
 * How a server runs.
 *
 * @param host the address to listen on
 * @param port the port to listen on; 0 for any free one
 * @param yield whether threads yield after each packet received and each batch sent
 * @param sendqBytes bytes that may wait for one connection before it is closed
 * @param registrationTimeoutS seconds that a connection may take to register
 * @param halfOpenMax connections that may be there without having registered
 */
public record Options(
    String host,
    int port,
    boolean yield,
    int sendqBytes,
    int registrationTimeoutS,
    int halfOpenMax) {}
