package org.klatch.crowd;

import org.klatch.websocket.Subprotocol;

/** Builds the options of a small workload against 127.0.0.1. */
public final class TestOptions {
  private final int port;
  private final Pacing pacing;
  private int rooms = 2;
  private int users = 4;
  private int count = 10;
  private int window = 1;
  private double rate;
  private Stages stages;
  private boolean poisson;
  private double durationS;
  private double pauseS;
  private double timeoutS = 30;
  private boolean yield;
  private Transport transport = Transport.PLAIN;

  private TestOptions(int port, Pacing pacing) {
    this.port = port;
    this.pacing = pacing;
  }

  /** Starts with 2 rooms of 4 users, 10 messages each. */
  public static TestOptions create(int port, Pacing pacing) {
    return new TestOptions(port, pacing);
  }

  /** Sets the number of rooms. */
  public TestOptions rooms(int value) {
    rooms = value;
    return this;
  }

  /** Sets the number of users of a room. */
  public TestOptions users(int value) {
    users = value;
    return this;
  }

  /** Sets the number of messages of a user. */
  public TestOptions count(int value) {
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

  TestOptions stages(String text) {
    stages = Stages.parse(text);
    durationS = stages.timeNs() / 1e9;
    count = Options.COUNT_MAX;
    return this;
  }

  TestOptions poisson() {
    poisson = true;
    return this;
  }

  TestOptions durationS(double value) {
    durationS = value;
    count = Options.COUNT_MAX;
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
    return transport(new Transport(true, subprotocol, "/irc", null));
  }

  /** Sets what carries the lines. */
  public TestOptions transport(Transport value) {
    transport = value;
    return this;
  }

  /** Returns the options. */
  public Options build() {
    return new Options(
        "127.0.0.1",
        port,
        rooms,
        users,
        count,
        (long) (durationS * 1e9),
        1,
        60,
        pacing,
        window,
        rate,
        stages,
        poisson,
        (long) (pauseS * 1e9),
        (long) (timeoutS * 1e9),
        5000,
        yield,
        1,
        transport);
  }
}
