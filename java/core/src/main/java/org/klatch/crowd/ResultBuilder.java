package org.klatch.crowd;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/** Adds up the counters of all users, once their threads have ended. */
final class ResultBuilder {
  private final Options options;
  private final Gate gate;
  private final List<User> users;
  private final List<Timeline> timelines;

  ResultBuilder(Options options, Gate gate, List<User> users, List<Timeline> timelines) {
    this.options = options;
    this.gate = gate;
    this.users = users;
    this.timelines = timelines;
  }

  Result build(double joinS, boolean finished, Failure failure) {
    long sent = 0;
    long received = 0;
    long lastNs = gate.openedNs();
    Histogram latency = new Histogram();
    Histogram lag = new Histogram();
    for (User user : users) {
      sent += user.sent.get();
      received += user.received.get();
      lastNs = Math.max(lastNs, user.lastDeliveryNs.get());
      latency.add(user.latency);
      lag.add(user.lag);
    }
    Timeline overTime = new Timeline();
    timelines.forEach(overTime::add);
    Faults faults = new Faults();
    List<Stranger> strangers = new ArrayList<>();
    for (int from = 0; from < users.size(); from += options.users()) {
      List<User> room = users.subList(from, from + options.users());
      addFaults(room, faults);
      if (!finished && !options.stopsAtAMoment()) {
        addUnsent(room, faults);
      }
      addStrangers(room, strangers);
    }
    double elapsedS = (lastNs - gate.openedNs()) / 1e9;
    return new Result(
        sent,
        received,
        elapsedS,
        joinS,
        latency,
        lag,
        overTime,
        stageCounts(),
        faults,
        strangers,
        null,
        tlsSession(),
        finished,
        List.of(),
        failure);
  }

  /** Counts by stage of all users; null without stages. */
  private StageCounts stageCounts() {
    if (options.stages() == null) {
      return null;
    }
    StageCounts all = new StageCounts(options.stages());
    users.forEach(user -> all.add(user.stageCounts));
    return all;
  }

  private TlsSession tlsSession() {
    return users.stream().map(User::tlsSession).filter(Objects::nonNull).findFirst().orElse(null);
  }

  private void addFaults(List<User> room, Faults faults) {
    int[] sent = room.stream().mapToInt(user -> user.sent.get()).toArray();
    for (User user : room) {
      user.account.addFaultsTo(sent, faults);
    }
  }

  private void addUnsent(List<User> room, Faults faults) {
    for (User user : room) {
      int sent = user.sent.get();
      int unsent = user.count - sent;
      if (unsent > 0) {
        faults.add(
            new Fault(
                Fault.Kind.UNSENT, user.id.room, null, user.id.user, (long) sent, unsent, null));
      }
    }
  }

  private static void addStrangers(List<User> room, List<Stranger> strangers) {
    Strangers all = new Strangers(room.get(0).id.room);
    room.forEach(user -> all.merge(user.strangers));
    for (Stranger stranger : all.list()) {
      if (strangers.size() < Strangers.MAX) {
        strangers.add(stranger);
      }
    }
  }
}
