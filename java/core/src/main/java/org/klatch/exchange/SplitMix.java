package org.klatch.exchange;

/** SplitMix64 by index: numbers that are a function of a seed, in all languages of the project. */
public final class SplitMix {
  /** The parts of the workloads that draw from a seed. Each has a sequence of its own. */
  public static final int TEXT = 1;

  public static final int FILES = 2;
  public static final int USERS = 3;
  public static final int ADS = 4;
  public static final int TABLE = 6;
  public static final int PAGES = 7;
  public static final int READERS = 8;

  private static final long STEP = 0x9e3779b97f4a7c15L;

  private SplitMix() {}

  /** Output number {@code index}, from 0, of the generator with this seed. */
  public static long output(long seed, long index) {
    long z = seed + (index + 1) * STEP;
    z = (z ^ (z >>> 30)) * 0xbf58476d1ce4e5b9L;
    z = (z ^ (z >>> 27)) * 0x94d049bb133111ebL;
    return z ^ (z >>> 31);
  }

  /** The seed of one part of the workload. */
  public static long partSeed(long seed, int part) {
    return output(seed, part);
  }

  /** Scales 32 random bits, taken as unsigned, to a number below {@code limit}. */
  public static int scale(long bits, int limit) {
    return (int) (((bits & 0xffff_ffffL) * limit) >>> 32);
  }
}
