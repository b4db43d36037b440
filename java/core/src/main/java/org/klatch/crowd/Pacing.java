package org.klatch.crowd;

/** When a user speaks. Docs: "Pacing" in docs/reference/benchmark.md. */
public enum Pacing {
  /** VolanoMark's: each room has one turn that goes round. */
  TURNS,
  /** A user says message i+window once it has message i of all the others. */
  ROUNDS,
  /** Everybody says everything as fast as the connection takes it. */
  FLOOD,
  /** Every user speaks on a schedule fixed in advance. */
  RATE;

  /** The rule for user {@code user} of a room. */
  Pace paceOf(int user, Options options) {
    return switch (this) {
      case TURNS -> new TurnsPace(user, options.users(), options.count());
      case ROUNDS -> new RoundsPace(user, options.users(), options.count(), options.window());
      case FLOOD, RATE -> new FreePace(options.count());
    };
  }
}
