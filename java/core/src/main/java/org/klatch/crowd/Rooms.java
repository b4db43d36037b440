package org.klatch.crowd;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** The users of a crowd, room by room. */
final class Rooms implements Parties {
  /** Timelines that users share: enough that their locks are rarely contended. */
  private static final int TIMELINES = 8;

  private static final long QUIT_GRACE_NS = 5_000_000_000L;
  private static final long FAILED_GRACE_NS = 500_000_000L;

  private final Options options;
  private final Gate gate;
  private final List<User> users = new ArrayList<>(); // room by room
  private final List<Timeline> timelines = new ArrayList<>();

  Rooms(Options options, Gate gate, Progress progress) {
    this.options = options;
    this.gate = gate;
    for (int i = 0; i < TIMELINES; i++) {
      timelines.add(new Timeline());
    }
    Addresses addresses = new Addresses(options.host(), options.port());
    for (int room = 0; room < options.rooms(); room++) {
      int number = options.start() + room;
      int[] counts = new int[options.users()];
      Arrays.setAll(counts, user -> options.countOf(number, user));
      long sum = Arrays.stream(counts).asLongStream().sum();
      for (int user = 0; user < options.users(); user++) {
        UserId id = new UserId(number, user, options.users());
        Timeline timeline = timelines.get(users.size() % TIMELINES);
        long expected = sum - counts[user];
        users.add(
            new User(id, options, counts[user], expected, addresses, gate, progress, timeline));
      }
    }
  }

  @Override
  public int count() {
    return users.size();
  }

  @Override
  public String noun() {
    return "user";
  }

  @Override
  public void start(int number) {
    users.get(number).start();
  }

  @Override
  public void gateOpened() {
    users.forEach(User::gateOpened);
  }

  @Override
  public long sent() {
    return users.stream().mapToLong(user -> user.sent.get()).sum();
  }

  @Override
  public long received() {
    return users.stream().mapToLong(user -> user.received.get()).sum();
  }

  @Override
  public long expected() {
    if (!options.stopsAtAMoment()) {
      return users.stream().mapToLong(user -> user.count + user.expected).sum();
    }
    // As fast as up to now.
    long elapsedNs = Math.max(1, gate.nowNs() - gate.openedNs());
    double rest = Math.max(1, options.durationNs() / (double) elapsedNs);
    return (long) ((sent() + received()) * rest);
  }

  @Override
  public boolean isDrained() {
    // In this order: a sender counts a message before it looks at the gate and writes, so the first
    // sum has every message that is on its way.
    long sent = sent();
    return received() == sent * (options.users() - 1);
  }

  @Override
  public long lastDeliveryNs() {
    return users.stream().mapToLong(user -> user.lastDeliveryNs.get()).max().orElseThrow();
  }

  @Override
  public void addLatencies(Histogram all) {
    users.forEach(user -> all.add(user.latency));
  }

  @Override
  public void moveUnreportedLatencies(Histogram latencies) {
    timelines.forEach(timeline -> timeline.moveUnreportedTo(latencies));
  }

  @Override
  public Failure stalled(double timeoutS, boolean draining) {
    for (int i = 0; i < users.size(); i++) {
      User user = users.get(i);
      long received = user.received.get();
      long expected = expectedReceived(i, draining);
      if (received < expected) {
        return new Failure(
            Failure.Kind.TIMEOUT,
            user.id.room,
            user.id.user,
            String.format(
                "no delivery for %.1f s; received %d of %d, sent %d of %d",
                timeoutS, received, expected, user.sent.get(), user.count));
      }
    }
    return new Failure(Failure.Kind.TIMEOUT, null, null, "the last delivery was too late");
  }

  /** Deliveries that a user waits for: of all messages, or of those sent before a pause. */
  private long expectedReceived(int index, boolean draining) {
    if (!draining) {
      return users.get(index).expected;
    }
    int first = index - index % options.users();
    List<User> room = users.subList(first, first + options.users());
    return room.stream().mapToLong(user -> user.sent.get()).sum() - users.get(index).sent.get();
  }

  /** Sends QUIT for all users and waits for the server to close, up to a time limit. */
  @Override
  public void leave(boolean failed) throws InterruptedException {
    users.forEach(User::leave);
    long deadlineNs = System.nanoTime() + (failed ? FAILED_GRACE_NS : QUIT_GRACE_NS);
    for (User user : users) {
      user.awaitEnd(deadlineNs);
    }
    for (User user : users) {
      user.close();
    }
  }

  @Override
  public Result result(double joinS, boolean finished, Failure failure) {
    return new ResultBuilder(options, gate, users, timelines).build(joinS, finished, failure);
  }
}
