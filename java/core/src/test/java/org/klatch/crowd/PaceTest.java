package org.klatch.crowd;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

class PaceTest {
  /**
   * A room without a network: messages are delivered to every other user in a random fair order.
   */
  private static final class SimulatedRoom {
    final List<Integer> speakers = new ArrayList<>(); // of the messages, in the order of sending
    private final List<Pace> paces = new ArrayList<>();
    private final int[] sent;
    private final List<List<Integer>> inboxes = new ArrayList<>();
    private final Random random;

    SimulatedRoom(Pacing pacing, Options options, long seed) {
      random = new Random(seed);
      sent = new int[options.users()];
      for (int user = 0; user < options.users(); user++) {
        paces.add(pacing.paceFor(user, options.count(), options));
        inboxes.add(new ArrayList<>());
      }
    }

    /** Performs one event at a time, for a random user, until none is possible. */
    void run() {
      List<Integer> ready = ready();
      while (!ready.isEmpty()) {
        int user = ready.get(random.nextInt(ready.size()));
        if (sent[user] < paces.get(user).allowed()) {
          send(user);
        } else {
          paces.get(user).onDelivery(inboxes.get(user).remove(0));
        }
        ready = ready();
      }
    }

    private void send(int user) {
      sent[user]++;
      speakers.add(user);
      for (int other = 0; other < sent.length; other++) {
        if (other != user) {
          inboxes.get(other).add(user);
        }
      }
    }

    private List<Integer> ready() {
      List<Integer> ready = new ArrayList<>();
      for (int user = 0; user < sent.length; user++) {
        if (sent[user] < paces.get(user).allowed() || !inboxes.get(user).isEmpty()) {
          ready.add(user);
        }
      }
      return ready;
    }
  }

  @Property(tries = 200)
  void turnsKeepTheirOrderUnderAnyDeliveryOrder(
      @ForAll @IntRange(min = 2, max = 7) int users,
      @ForAll @IntRange(min = 1, max = 9) int count,
      @ForAll long seed) {
    SimulatedRoom room = new SimulatedRoom(Pacing.TURNS, options(users, count, 1), seed);
    room.run();
    assertEquals(users * count, room.speakers.size(), "all is sent");
    for (int i = 0; i < room.speakers.size(); i++) {
      assertEquals(i % users, room.speakers.get(i), "message " + i + " of " + room.speakers);
    }
  }

  @Property(tries = 200)
  void noUserIsFurtherAheadThanTheWindow(
      @ForAll @IntRange(min = 2, max = 7) int users,
      @ForAll @IntRange(min = 1, max = 9) int count,
      @ForAll @IntRange(min = 1, max = 12) int window,
      @ForAll long seed) {
    SimulatedRoom room = new SimulatedRoom(Pacing.ROUNDS, options(users, count, window), seed);
    room.run();
    assertEquals(users * count, room.speakers.size(), "all is sent");
    int[] sent = new int[users];
    for (int speaker : room.speakers) {
      sent[speaker]++;
      for (int other : sent) {
        assertTrue(sent[speaker] - other <= window, room.speakers.toString());
      }
    }
  }

  @Test
  void aWindowOfOneAllowsOneRoundAhead() {
    Pace pace = Pacing.ROUNDS.paceFor(1, 5, options(3, 5, 1));
    assertEquals(1, pace.allowed());
    pace.onDelivery(0);
    pace.onDelivery(0);
    assertEquals(1, pace.allowed(), "user 2 is still behind");
    pace.onDelivery(2);
    assertEquals(2, pace.allowed());
    pace.onDelivery(2);
    assertEquals(3, pace.allowed());
  }

  @Test
  void floodAndRateAllowAllMessages() {
    assertEquals(5, Pacing.FLOOD.paceFor(1, 5, options(3, 5, 1)).allowed());
    assertEquals(5, Pacing.RATE.paceFor(1, 5, options(3, 5, 1)).allowed());
  }

  private static Options options(int users, int count, int window) {
    return TestOptions.create(0, Pacing.ROUNDS).users(users).count(count).window(window).build();
  }
}
