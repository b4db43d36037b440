package org.klatch.crowd;

import org.klatch.websocket.Subprotocol;

/** Builds the options of a small workload against 127.0.0.1. */
final class TestOptions {
  private final int port;
  private final Pacing pacing;
  private int rooms = 2;
  private int users = 4;
  private int count = 10;
  private int window = 1;
  private double rate;
  private double pauseS;
  private double timeoutS = 30;
  private boolean yield;
  private Transport transport = Transport.PLAIN;

  private TestOptions(int port, Pacing pacing) {
    this.port = port;
    this.pacing = pacing;
  }

  static TestOptions create(int port, Pacing pacing) {
    return new TestOptions(port, pacing);
  }

  TestOptions rooms(int value) {
    rooms = value;
    return this;
  }

  TestOptions users(int value) {
    users = value;
    return this;
  }

  TestOptions count(int value) {
    count = value;
    return this;
  }

  TestOptions window(int value) {
    window = value;
    return this;
  }

  TestOptions rate(double value) {
    rate = value;
    return this;
  }

  TestOptions pauseS(double value) {
    pauseS = value;
    return this;
  }

  TestOptions timeoutS(double value) {
    timeoutS = value;
    return this;
  }

  TestOptions yielding() {
    yield = true;
    return this;
  }

  /** Offers a subprotocol over WebSocket, or none if it is null. */
  TestOptions webSocket(Subprotocol subprotocol) {
    transport = new Transport(true, subprotocol, "/irc", null);
    return this;
  }

  Options build() {
    return new Options(
        "127.0.0.1",
        port,
        rooms,
        users,
        count,
        1,
        60,
        pacing,
        window,
        rate,
        (long) (pauseS * 1e9),
        (long) (timeoutS * 1e9),
        5000,
        yield,
        1,
        transport);
  }
}
