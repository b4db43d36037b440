package org.klatch.crowd;

import java.util.ArrayList;
import java.util.List;

/**
 * A crowd: brings its users in, opens the gate, waits until all is heard, and settles the accounts.
 */
public final class Crowd {
  /** How many users join at a time: a small listen backlog would make more wait for seconds. */
  private static final int JOINING_MAX = 64;

  /** Timelines that users share: enough that two threads rarely want the same one. */
  private static final int TIMELINES = 8;

  private static final long TICK_MS = 500;
  private static final long TICK_NS = TICK_MS * 1_000_000;
  private static final long QUIT_GRACE_NS = 5_000_000_000L;
  private static final long FAILED_GRACE_NS = 500_000_000L;

  private final Options options;
  private final Control control;
  private final Gate gate = new Gate();
  private final Roll roll = new Roll();
  private final List<User> users = new ArrayList<>(); // room by room
  private final List<Timeline> timelines = new ArrayList<>();
  private double joinS;
  private long joiningReportedNs;
  private int joiningReported;

  /** Makes a crowd that does nothing before {@link #run}. */
  public Crowd(Options options, Control control) {
    this.options = options;
    this.control = control;
    for (int i = 0; i < TIMELINES; i++) {
      timelines.add(new Timeline());
    }
    for (int room = 0; room < options.rooms(); room++) {
      for (int user = 0; user < options.users(); user++) {
        Seat seat = new Seat(options.start() + room, user, options.users());
        Timeline timeline = timelines.get(users.size() % TIMELINES);
        users.add(new User(seat, options, gate, roll, timeline));
      }
    }
  }

  /** Runs the crowd to its end; once only. */
  public Result run() throws InterruptedException {
    if (join()) {
      control.joined(joinS);
      stopIf(control.awaitGo());
      talk();
      control.done();
      if (!stopped()) {
        stopIf(control.awaitQuit());
      }
    }
    leave();
    return new Settlement(options, gate, users, timelines).result(joinS, roll.failure());
  }

  /** Makes the crowd give up, from any thread; it still settles its accounts. */
  public void stop(String why) {
    roll.failed(new Failure(Failure.Kind.STOPPED, null, null, why));
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

  /** Waits until {@code count} have joined; false if the crowd gives up before. */
  private boolean awaitJoined(int count) throws InterruptedException {
    Patience patience = new Patience(options.timeoutNs());
    reportJoining();
    while (!roll.awaitJoined(count, TICK_MS)) {
      reportJoining();
      if (roll.failure() == null && patience.endsWith(roll.joinedCount())) {
        roll.failed(
            new Failure(
                Failure.Kind.TIMEOUT,
                null,
                null,
                String.format(
                    "nobody has joined for %.1f s; %d of %d had before",
                    options.timeoutNs() / 1e9, roll.joinedCount(), users.size())));
      }
      if (roll.failure() != null) {
        return false;
      }
    }
    return true;
  }

  /** Reports how many have joined, once a tick at most, and only when there are more. */
  private void reportJoining() {
    long nowNs = gate.nowNs();
    int joined = roll.joinedCount();
    if (joined > joiningReported && nowNs - joiningReportedNs >= TICK_NS) {
      joiningReported = joined;
      joiningReportedNs = nowNs;
      control.joining(joined, users.size());
    }
  }

  private void talk() throws InterruptedException {
    if (roll.failure() != null) {
      return;
    }
    gate.open();
    users.forEach(User::gateOpened);
    Patience patience = new Patience(options.timeoutNs());
    long expected = options.expectedSent() + options.expectedReceived();
    while (!roll.awaitDone(users.size(), TICK_MS) && roll.failure() == null) {
      long sent = 0;
      long received = 0;
      for (User user : users) {
        sent += user.said.get();
        received += user.received.get();
      }
      Histogram fresh = Timeline.histogram();
      timelines.forEach(timeline -> timeline.moveFreshTo(fresh));
      control.progress(sent, received, expected, fresh);
      if (patience.endsWith(sent + received)) {
        roll.failed(timeout());
      }
    }
  }

  private Failure timeout() {
    long each = options.expectedReceived() / users.size();
    for (User user : users) {
      long received = user.received.get();
      if (received < each) {
        return new Failure(
            Failure.Kind.TIMEOUT,
            user.seat.room,
            user.seat.user,
            String.format(
                "nothing has come for %.1f s; it had received %d of %d, and said %d of %d",
                options.timeoutNs() / 1e9, received, each, user.said.get(), options.count()));
      }
    }
    return new Failure(Failure.Kind.TIMEOUT, null, null, "the last moment came too late");
  }

  private void stopIf(String why) {
    if (why != null) {
      stop(why);
    }
  }

  private boolean stopped() {
    Failure failure = roll.failure();
    return failure != null && failure.kind() == Failure.Kind.STOPPED;
  }

  /** Lets everybody quit in peace, but nobody for long. */
  private void leave() throws InterruptedException {
    users.forEach(User::leave);
    long graceNs = roll.failure() == null ? QUIT_GRACE_NS : FAILED_GRACE_NS;
    long deadlineNs = System.nanoTime() + graceNs;
    for (User user : users) {
      user.awaitEnd(deadlineNs);
    }
    for (User user : users) {
      user.close();
    }
  }
}
