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

  private final Control control;
  private final Gate gate;
  private final Progress progress;
  private final Parties parties;
  private final long timeoutNs;
  private final long stopAfterNs; // 0 for no such time
  private final Gaps gaps = new Gaps();
  private Histogram reported = new Histogram(); // latencies in the events of all pauses
  private StallTimer stallTimer;
  private State state = State.RUNNING;
  private long closedNs;
  private boolean finished;
  private boolean timeIsUp;

  /**
   * Creates the phase.
   *
   * @param stopAfterNs time after which the parties stop sending, ns; 0 if they stop by themselves
   */
  RunPhase(
      Parties parties,
      Gate gate,
      Progress progress,
      Control control,
      long timeoutNs,
      long stopAfterNs) {
    this.parties = parties;
    this.gate = gate;
    this.progress = progress;
    this.control = control;
    this.timeoutNs = timeoutNs;
    this.stopAfterNs = stopAfterNs;
  }

  void run() throws InterruptedException {
    stallTimer = new StallTimer(timeoutNs);
    gate.open();
    parties.gateOpened();
    long tickNs = System.nanoTime() + TICK_NS;
    while (true) {
      long seen = progress.changes(); // a later change ends the wait below
      if (stopAfterNs > 0 && !timeIsUp && leftNs() <= 0) {
        timeIsUp = true;
        closeGate();
      }
      obeyCommands();
      if (hasEnded()) {
        return;
      }
      if (System.nanoTime() - tickNs >= 0) {
        tickNs += TICK_NS;
        tick();
      }
      awaitChange(seen, nextWakeNs(tickNs));
    }
  }

  /** The time until the parties are to stop, ns. */
  private long leftNs() {
    return stopAfterNs - (gate.nowNs() - gate.openedNs());
  }

  /** When this thread has something to do at the latest, of {@link System#nanoTime}. */
  private long nextWakeNs(long tickNs) {
    if (stopAfterNs == 0 || timeIsUp) {
      return tickNs;
    }
    long stopNs = System.nanoTime() + Math.max(0, leftNs());
    return stopNs - tickNs < 0 ? stopNs : tickNs;
  }

  private void closeGate() {
    gate.close();
    closedNs = gate.nowNs();
    state = State.DRAINING;
  }

  /** Times in which the crowd did not run. */
  List<Gap> gaps() {
    return gaps.list();
  }

  /** Waits for a change, until the next tick at most, and notices when this thread is late. */
  private void awaitChange(long seen, long tickNs) throws InterruptedException {
    long fromNs = System.nanoTime();
    long dueNs = Math.max(fromNs, Math.min(tickNs, fromNs + Gaps.TICK_NS));
    progress.awaitChange(seen, dueNs);
    long lateNs = System.nanoTime() - dueNs;
    if (Gaps.isGap(lateNs)) {
      stallTimer.extend(lateNs);
      if (state != State.PAUSED) {
        gaps.add(gate.nowNs() - gate.openedNs(), lateNs);
      }
    }
  }

  /** Whether the command {@code finish} has ended the sending. */
  boolean finished() {
    return finished;
  }

  private boolean hasEnded() {
    return progress.failure() != null
        || progress.doneCount() == parties.count()
        || ((finished || timeIsUp) && state == State.PAUSED);
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
      closeGate();
    } else if (!finished) {
      reportPause();
    }
  }

  private void resume() {
    if (state == State.PAUSED && !finished) {
      state = State.RUNNING;
      stallTimer = new StallTimer(timeoutNs);
      gate.reopen();
      parties.gateOpened();
    }
  }

  /**
   * Stops the clock if every message sent is delivered; else false. The clock stops at the last
   * delivery, so that it leaves out the time that this thread needed to wake up.
   */
  private boolean stopIfDrained() {
    if (!parties.isDrained()) {
      return false;
    }
    gate.stopClock(Math.max(closedNs, lastDeliveryNs()));
    state = State.PAUSED;
    if (!finished && !timeIsUp) {
      reportPause();
    }
    return true;
  }

  /** Reports a complete pause. No receiver records latencies now. */
  private void reportPause() {
    Histogram all = new Histogram();
    parties.addLatencies(all);
    Histogram unreported = new Histogram();
    unreported.add(all);
    unreported.subtract(reported);
    reported = all;
    long activeNs = lastDeliveryNs() - gate.openedNs();
    control.paused(parties.sent(), parties.received(), activeNs, unreported);
  }

  private void tick() {
    long sent = parties.sent();
    long received = parties.received();
    Histogram latencies = Timeline.histogram();
    parties.moveUnreportedLatencies(latencies);
    control.progress(sent, received, parties.expected(), latencies);
    if (state != State.PAUSED && stallTimer.isStalled(sent + received)) {
      progress.failed(parties.stalled(timeoutNs / 1e9, state == State.DRAINING));
    }
  }

  /** Time of the last verified delivery, or of the opening of the gate if there is none. */
  private long lastDeliveryNs() {
    return Math.max(gate.openedNs(), parties.lastDeliveryNs());
  }
}
