package org.klatch.crowd;

import org.klatch.chat.Text;

/**
 * The intended send times of one user under pacing {@code rate}: see "The schedule" in
 * docs/reference/protocol.md.
 */
final class Schedule {
  private static final long STEP = 0x9e3779b97f4a7c15L;

  private final long random;
  private final long phaseNs;
  private final double rate;
  private final boolean poisson;
  private int index; // of the next moment, if poisson
  private long dueNs;

  /**
   * Creates the schedule of one user.
   *
   * @param seed 64 bits, unsigned
   * @param rate messages a second, above 0
   * @param poisson whether intervals are exponential, else they are equal
   */
  Schedule(long seed, int room, int user, double rate, boolean poisson) {
    this.rate = rate;
    this.poisson = poisson;
    random = splitMix64(splitMix64(seed, 0), (long) room << 32 | user);
    phaseNs = (long) (fraction(random) * 1e9 / rate);
    dueNs = poisson ? intervalNs(0) : phaseNs;
  }

  /**
   * Intended send time of message {@code sequence}, from 0; ns after the gate opens. If the
   * intervals are exponential, no call may go back.
   */
  long dueNs(int sequence) {
    if (!poisson) {
      return phaseNs + (long) (sequence * 1e9 / rate);
    }
    while (index < sequence) {
      index++;
      dueNs += intervalNs(index);
    }
    return dueNs;
  }

  /** The interval before moment {@code index} of a Poisson process, in whole ns. */
  private long intervalNs(int index) {
    return Math.round(-StrictMath.log(1 - fraction(splitMix64(random, index))) * 1e9 / rate);
  }

  private static double fraction(long random) {
    return (random >>> 11) / (double) (1L << 53);
  }

  /** Output number {@code index}, from 0, of a SplitMix64 generator with this seed. */
  private static long splitMix64(long seed, long index) {
    return Text.mix(seed + (index + 1) * STEP);
  }
}
