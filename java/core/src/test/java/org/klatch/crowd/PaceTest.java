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
  /** A room without a network: what is said is delivered to each other user in some fair order. */
  private static final class SimulatedRoom {
    final List<Integer> speakers =
        new ArrayList<>(); // of the messages, in the order they were said
    private final List<Pace> paces = new ArrayList<>();
    private final int[] said;
    private final List<List<Integer>> inboxes = new ArrayList<>();
    private final Random random;

    SimulatedRoom(Pacing pacing, Options options, long seed) {
      random = new Random(seed);
      said = new int[options.users()];
      for (int user = 0; user < options.users(); user++) {
        paces.add(pacing.paceOf(user, options));
        inboxes.add(new ArrayList<>());
      }
    }

    /** Lets one thing happen at a time, to a user drawn by chance, until nothing can. */
    void run() {
      List<Integer> ready = ready();
      while (!ready.isEmpty()) {
        int user = ready.get(random.nextInt(ready.size()));
        if (said[user] < paces.get(user).allowed()) {
          say(user);
        } else {
          paces.get(user).heard(inboxes.get(user).remove(0));
        }
        ready = ready();
      }
    }

    private void say(int user) {
      said[user]++;
      speakers.add(user);
      for (int other = 0; other < said.length; other++) {
        if (other != user) {
          inboxes.get(other).add(user);
        }
      }
    }

    private List<Integer> ready() {
      List<Integer> ready = new ArrayList<>();
      for (int user = 0; user < said.length; user++) {
        if (said[user] < paces.get(user).allowed() || !inboxes.get(user).isEmpty()) {
          ready.add(user);
        }
      }
      return ready;
    }
  }

  @Property(tries = 200)
  void turnsGoRoundWhateverTheDeliveriesDo(
      @ForAll @IntRange(min = 2, max = 7) int users,
      @ForAll @IntRange(min = 1, max = 9) int count,
      @ForAll long seed) {
    SimulatedRoom room = new SimulatedRoom(Pacing.TURNS, options(users, count, 1), seed);
    room.run();
    assertEquals(users * count, room.speakers.size(), "all is said");
    for (int i = 0; i < room.speakers.size(); i++) {
      assertEquals(i % users, room.speakers.get(i), "message " + i + " of " + room.speakers);
    }
  }

  @Property(tries = 200)
  void nobodyIsFurtherAheadThanTheWindow(
      @ForAll @IntRange(min = 2, max = 7) int users,
      @ForAll @IntRange(min = 1, max = 9) int count,
      @ForAll @IntRange(min = 1, max = 12) int window,
      @ForAll long seed) {
    SimulatedRoom room = new SimulatedRoom(Pacing.ROUNDS, options(users, count, window), seed);
    room.run();
    assertEquals(users * count, room.speakers.size(), "all is said");
    int[] said = new int[users];
    for (int speaker : room.speakers) {
      said[speaker]++;
      for (int other : said) {
        assertTrue(said[speaker] - other <= window, room.speakers.toString());
      }
    }
  }

  @Test
  void aWindowOfOneIsOneRoundAhead() {
    Pace pace = Pacing.ROUNDS.paceOf(1, options(3, 5, 1));
    assertEquals(1, pace.allowed());
    pace.heard(0);
    pace.heard(0);
    assertEquals(1, pace.allowed(), "user 2 is still behind");
    pace.heard(2);
    assertEquals(2, pace.allowed());
    pace.heard(2);
    assertEquals(3, pace.allowed());
  }

  @Test
  void nobodyWaitsInAFlood() {
    assertEquals(5, Pacing.FLOOD.paceOf(1, options(3, 5, 1)).allowed());
    assertEquals(5, Pacing.RATE.paceOf(1, options(3, 5, 1)).allowed());
  }

  private static Options options(int users, int count, int window) {
    return TestOptions.of(0, Pacing.ROUNDS).users(users).count(count).window(window).build();
  }
}
