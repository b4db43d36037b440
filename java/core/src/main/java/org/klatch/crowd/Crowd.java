package org.klatch.crowd;

/** A crowd: makes its parties join, opens the gate, waits for their end, and builds the result. */
public final class Crowd {
  /**
   * Most parties that join at a time. More could overflow a small listen backlog and wait seconds.
   */
  private static final int JOINING_MAX = 64;

  private static final long TICK_MS = 500;
  private static final long TICK_NS = TICK_MS * 1_000_000;

  private final Parties parties;
  private final Gate gate;
  private final Progress progress;
  private final Control control;
  private final long timeoutNs;
  private final long stopAfterNs;
  private double joinS;
  private long joiningReportedNs;
  private int joiningReported;

  /** Creates a crowd of users in rooms. It does nothing before {@link #run}. */
  public Crowd(Options options, Control control) {
    this(options, new Gate(), new Progress(), control);
  }

  private Crowd(Options options, Gate gate, Progress progress, Control control) {
    this(
        new Rooms(options, gate, progress),
        gate,
        progress,
        control,
        options.timeoutNs(),
        options.stopsAtAMoment() ? options.durationNs() : 0);
  }

  /**
   * Creates a crowd of these parties. It does nothing before {@link #run}.
   *
   * @param gate the gate of these parties
   * @param progress the progress of these parties
   * @param timeoutNs time without progress after which the crowd fails, ns
   */
  public Crowd(Parties parties, Gate gate, Progress progress, Control control, long timeoutNs) {
    this(parties, gate, progress, control, timeoutNs, 0);
  }

  private Crowd(
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

  /** Runs the crowd to its end. May be called once. */
  public Result run() throws InterruptedException {
    var phase = new RunPhase(parties, gate, progress, control, timeoutNs, stopAfterNs);
    if (join()) {
      control.joined(joinS);
      stopIf(control.awaitGo());
      if (progress.failure() == null) {
        phase.run();
      }
      control.done();
      if (!stopped()) {
        stopIf(control.awaitQuit());
      }
    }
    parties.leave(progress.failure() != null);
    return parties.result(joinS, phase.finished(), progress.failure()).with(phase.gaps());
  }

  /**
   * Makes the crowd fail with {@link Failure.Kind#STOPPED}; it still returns a result. Any thread.
   */
  public void stop(String reason) {
    progress.failed(new Failure(Failure.Kind.STOPPED, null, null, reason));
  }

  /**
   * Makes all parties stop sending; {@link Control#paused} reports the delivery of what they have
   * sent. Like {@link #resume} and {@link #finish}, it waits for the gate to open and the commands
   * before it, and has no effect after {@link Control#done}. Any thread.
   */
  public void pause() {
    progress.command(Command.PAUSE);
  }

  /** Makes the parties go on after a pause. Any thread. */
  public void resume() {
    progress.command(Command.RESUME);
  }

  /** Ends the run when the messages sent so far are delivered. Any thread. */
  public void finish() {
    progress.command(Command.FINISH);
  }

  private boolean join() throws InterruptedException {
    long startNs = gate.nowNs();
    joiningReportedNs = startNs;
    for (int i = 0; i < parties.count(); i++) {
      parties.start(i);
      if (!awaitJoined(i + 1 - JOINING_MAX + 1)) {
        return false;
      }
    }
    boolean all = awaitJoined(parties.count());
    joinS = (gate.nowNs() - startNs) / 1e9;
    return all;
  }

  /** Waits until {@code count} parties have joined; false after a failure. */
  private boolean awaitJoined(int count) throws InterruptedException {
    StallTimer stallTimer = new StallTimer(timeoutNs);
    reportJoining();
    while (!progress.awaitJoined(count, TICK_MS)) {
      reportJoining();
      if (progress.failure() == null && stallTimer.isStalled(progress.joinedCount())) {
        progress.failed(
            new Failure(
                Failure.Kind.TIMEOUT,
                null,
                null,
                String.format(
                    "no %s has joined for %.1f s; %d of %d have joined",
                    parties.noun(), timeoutNs / 1e9, progress.joinedCount(), parties.count())));
      }
      if (progress.failure() != null) {
        return false;
      }
    }
    return true;
  }

  /** Reports how many parties have joined, at most once a tick, and only when it grows. */
  private void reportJoining() {
    long nowNs = gate.nowNs();
    int joined = progress.joinedCount();
    if (joined > joiningReported && nowNs - joiningReportedNs >= TICK_NS) {
      joiningReported = joined;
      joiningReportedNs = nowNs;
      control.joining(joined, parties.count());
    }
  }

  private void stopIf(String reason) {
    if (reason != null) {
      stop(reason);
    }
  }

  private boolean stopped() {
    Failure failure = progress.failure();
    return failure != null && failure.kind() == Failure.Kind.STOPPED;
  }
}
