package org.klatch.crowd;

import java.util.ArrayList;
import java.util.List;

/** A crowd: connects its users, opens the gate, waits for all deliveries, and builds the result. */
public final class Crowd {
  /**
   * Most users that join at a time. More could overflow a small listen backlog and wait seconds.
   */
  private static final int JOINING_MAX = 64;

  /** Timelines that users share: enough that their locks are rarely contended. */
  private static final int TIMELINES = 8;

  private static final long TICK_MS = 500;
  private static final long TICK_NS = TICK_MS * 1_000_000;
  private static final long QUIT_GRACE_NS = 5_000_000_000L;
  private static final long FAILED_GRACE_NS = 500_000_000L;

  private final Options options;
  private final Control control;
  private final Gate gate = new Gate();
  private final Progress progress = new Progress();
  private final List<User> users = new ArrayList<>(); // room by room
  private final List<Timeline> timelines = new ArrayList<>();
  private double joinS;
  private long joiningReportedNs;
  private int joiningReported;

  /** Creates a crowd that does nothing before {@link #run}. */
  public Crowd(Options options, Control control) {
    this.options = options;
    this.control = control;
    for (int i = 0; i < TIMELINES; i++) {
      timelines.add(new Timeline());
    }
    for (int room = 0; room < options.rooms(); room++) {
      for (int user = 0; user < options.users(); user++) {
        UserId id = new UserId(options.start() + room, user, options.users());
        Timeline timeline = timelines.get(users.size() % TIMELINES);
        users.add(new User(id, options, gate, progress, timeline));
      }
    }
  }

  /** Runs the crowd to its end. May be called once. */
  public Result run() throws InterruptedException {
    var phase = new RunPhase(options, control, gate, progress, users, timelines);
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
    leave();
    return new ResultBuilder(options, gate, users, timelines)
        .build(joinS, phase.finished(), progress.failure());
  }

  /**
   * Makes the crowd fail with {@link Failure.Kind#STOPPED}; it still returns a result. Any thread.
   */
  public void stop(String reason) {
    progress.failed(new Failure(Failure.Kind.STOPPED, null, null, reason));
  }

  /**
   * Makes all users stop sending; {@link Control#paused} reports the delivery of what they have
   * sent. Like {@link #resume} and {@link #finish}, it waits for the gate to open and the commands
   * before it, and has no effect after {@link Control#done}. Any thread.
   */
  public void pause() {
    progress.command(Command.PAUSE);
  }

  /** Makes the users go on after a pause. Any thread. */
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
    for (int i = 0; i < users.size(); i++) {
      users.get(i).start();
      if (!awaitJoined(i + 1 - JOINING_MAX + 1)) {
        return false;
      }
    }
    boolean all = awaitJoined(users.size());
    joinS = (gate.nowNs() - startNs) / 1e9;
    return all;
  }

  /** Waits until {@code count} users have joined; false after a failure. */
  private boolean awaitJoined(int count) throws InterruptedException {
    StallTimer stallTimer = new StallTimer(options.timeoutNs());
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
                    "no user has joined for %.1f s; %d of %d have joined",
                    options.timeoutNs() / 1e9, progress.joinedCount(), users.size())));
      }
      if (progress.failure() != null) {
        return false;
      }
    }
    return true;
  }

  /** Reports how many users have joined, at most once a tick, and only when it grows. */
  private void reportJoining() {
    long nowNs = gate.nowNs();
    int joined = progress.joinedCount();
    if (joined > joiningReported && nowNs - joiningReportedNs >= TICK_NS) {
      joiningReported = joined;
      joiningReportedNs = nowNs;
      control.joining(joined, users.size());
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

  /** Sends QUIT for all users and waits for the server to close, up to a time limit. */
  private void leave() throws InterruptedException {
    users.forEach(User::leave);
    long graceNs = progress.failure() == null ? QUIT_GRACE_NS : FAILED_GRACE_NS;
    long deadlineNs = System.nanoTime() + graceNs;
    for (User user : users) {
      user.awaitEnd(deadlineNs);
    }
    for (User user : users) {
      user.close();
    }
  }
}
