package org.klatch.crowd;

import java.util.List;

/**
 * The phase from the opening of the gate to the last delivery or a failure: reports progress, obeys
 * commands, and detects stalls. Belongs to the crowd's thread.
 */
final class RunPhase {
  private static final long TICK_NS = 500_000_000;

  private enum State {
    RUNNING,
    /** The gate is closed, and messages are still on their way. */
    DRAINING,
    /** Every message sent is delivered, and the clock stands still. */
    PAUSED
  }

  private final Options options;
  private final Control control;
  private final Gate gate;
  private final Progress progress;
  private final List<User> users; // room by room
  private final List<Timeline> timelines;
  private Histogram reported = new Histogram(); // latencies in the events of all pauses
  private StallTimer stallTimer;
  private State state = State.RUNNING;
  private long closedNs;
  private boolean finished;

  RunPhase(
      Options options,
      Control control,
      Gate gate,
      Progress progress,
      List<User> users,
      List<Timeline> timelines) {
    this.options = options;
    this.control = control;
    this.gate = gate;
    this.progress = progress;
    this.users = users;
    this.timelines = timelines;
  }

  void run() throws InterruptedException {
    stallTimer = new StallTimer(options.timeoutNs());
    gate.open();
    users.forEach(User::gateOpened);
    long tickNs = System.nanoTime() + TICK_NS;
    while (true) {
      long seen = progress.changes(); // a later change ends the wait below
      obeyCommands();
      if (hasEnded()) {
        return;
      }
      if (System.nanoTime() - tickNs >= 0) {
        tickNs += TICK_NS;
        tick();
      }
      progress.awaitChange(seen, tickNs);
    }
  }

  /** Whether the command {@code finish} has ended the sending. */
  boolean finished() {
    return finished;
  }

  private boolean hasEnded() {
    return progress.failure() != null
        || progress.doneCount() == users.size()
        || (finished && state == State.PAUSED);
  }

  /** Obeys commands in their order; a pause must be complete before the next command. */
  private void obeyCommands() {
    while (progress.failure() == null) {
      if (state == State.DRAINING && !stopIfDrained()) {
        return;
      }
      Command command = progress.nextCommand();
      if (command == null) {
        return;
      }
      obey(command);
    }
  }

  private void obey(Command command) {
    if (command == Command.RESUME) {
      resume();
      return;
    }
    finished |= command == Command.FINISH;
    if (state == State.RUNNING) {
      gate.close();
      closedNs = gate.nowNs();
      state = State.DRAINING;
    } else if (!finished) {
      reportPause();
    }
  }

  private void resume() {
    if (state == State.PAUSED && !finished) {
      state = State.RUNNING;
      stallTimer = new StallTimer(options.timeoutNs());
      gate.reopen();
      users.forEach(User::gateOpened);
    }
  }

  /**
   * Stops the clock if every message sent is delivered; else false. The clock stops at the last
   * delivery, so that it leaves out the time that this thread needed to wake up.
   */
  private boolean stopIfDrained() {
    // In this order: a sender counts a message before it looks at the gate and writes, so the first
    // sum has every message that is on its way.
    long sent = sent();
    if (received() != sent * (options.users() - 1)) {
      return false;
    }
    gate.stopClock(Math.max(closedNs, lastDeliveryNs()));
    state = State.PAUSED;
    if (!finished) {
      reportPause();
    }
    return true;
  }

  /** Reports a complete pause. No receiver records latencies now. */
  private void reportPause() {
    Histogram all = new Histogram();
    users.forEach(user -> all.add(user.latency));
    Histogram unreported = new Histogram();
    unreported.add(all);
    unreported.subtract(reported);
    reported = all;
    control.paused(sent(), received(), lastDeliveryNs() - gate.openedNs(), unreported);
  }

  private void tick() {
    long sent = sent();
    long received = received();
    Histogram latencies = Timeline.histogram();
    timelines.forEach(timeline -> timeline.moveUnreportedTo(latencies));
    long expected = options.expectedSent() + options.expectedReceived();
    control.progress(sent, received, expected, latencies);
    if (state != State.PAUSED && stallTimer.isStalled(sent + received)) {
      progress.failed(timeout());
    }
  }

  private Failure timeout() {
    for (int i = 0; i < users.size(); i++) {
      User user = users.get(i);
      long received = user.received.get();
      long expected = expectedReceived(i);
      if (received < expected) {
        return new Failure(
            Failure.Kind.TIMEOUT,
            user.id.room,
            user.id.user,
            String.format(
                "no delivery for %.1f s; received %d of %d, sent %d of %d",
                options.timeoutNs() / 1e9, received, expected, user.sent.get(), options.count()));
      }
    }
    return new Failure(Failure.Kind.TIMEOUT, null, null, "the last delivery was too late");
  }

  /** Deliveries that a user waits for: of all messages, or of those sent before a pause. */
  private long expectedReceived(int index) {
    if (state == State.RUNNING) {
      return options.expectedReceived() / users.size();
    }
    int first = index - index % options.users();
    List<User> room = users.subList(first, first + options.users());
    return room.stream().mapToLong(user -> user.sent.get()).sum() - users.get(index).sent.get();
  }

  private long sent() {
    return users.stream().mapToLong(user -> user.sent.get()).sum();
  }

  private long received() {
    return users.stream().mapToLong(user -> user.received.get()).sum();
  }

  /** Time of the last verified delivery, or of the opening of the gate if there is none. */
  private long lastDeliveryNs() {
    long latest = users.stream().mapToLong(user -> user.lastDeliveryNs.get()).max().orElseThrow();
    return Math.max(gate.openedNs(), latest);
  }
}
