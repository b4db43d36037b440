package org.klatch.crowd;

/** Rules for when a user sends: see "Pacing" in docs/reference/benchmark.md. */
public enum Pacing {
  /** VolanoMark's: the users of a room send in turn. */
  TURNS,
  /** A user sends message i+window once it has message i of all others. */
  ROUNDS,
  /** Every user sends as fast as the connection accepts. */
  FLOOD,
  /** Every user sends on a schedule fixed in advance. */
  RATE;

  /** Creates the pace for user {@code user} of a room, which sends {@code count} messages. */
  Pace paceFor(int user, int count, Options options) {
    return switch (this) {
      case TURNS -> new TurnsPace(user, options.users(), count);
      case ROUNDS -> new RoundsPace(user, options.users(), count, options.window());
      case FLOOD, RATE -> new FreePace(count);
    };
  }
}
