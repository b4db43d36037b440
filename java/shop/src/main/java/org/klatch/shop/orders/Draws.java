package org.klatch.shop.orders;

import org.klatch.exchange.SplitMix;

/** A sequence of random numbers with a seed of its own. */
final class Draws {
  private final long seed;
  private long index;

  /**
   * Begins the sequence of one thing.
   *
   * @param seed seed of all draws
   * @param part the kind of thing
   * @param number which of its kind
   */
  Draws(long seed, int part, long number) {
    this.seed = SplitMix.output(SplitMix.partSeed(seed, part), number);
  }

  /** The next number, from 0 and below a limit. */
  int below(int limit) {
    return SplitMix.scale(SplitMix.output(seed, index++) >>> 32, limit);
  }
}
