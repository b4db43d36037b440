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
  private final Stages stages; // null at a constant rate
  private final double phase; // of the first moment as a part of an operation
  private int stage; // that has the next moment
  private int index; // of the next moment, if poisson
  private long dueNs; // in operations times 10⁹, with stages

  /**
   * Creates the schedule of one user.
   *
   * @param seed 64 bits, unsigned
   * @param rate messages a second, above 0; any with stages
   * @param stages in place of the rate, or null
   * @param poisson whether intervals are exponential, else they are equal
   */
  Schedule(long seed, int room, int user, double rate, boolean poisson, Stages stages) {
    this.rate = stages == null ? rate : 1;
    this.poisson = poisson;
    this.stages = stages;
    random = splitMix64(splitMix64(seed, 0), (long) room << 32 | user);
    phase = fraction(random);
    phaseNs = (long) (phase * 1e9 / this.rate);
    dueNs = poisson ? intervalNs(0) : phaseNs;
  }

  /**
   * Intended send time of message {@code sequence}, from 0; ns after the gate opens. With stages it
   * is their end if the message is never due. If the intervals are exponential, or there are
   * stages, no call may go back.
   */
  long dueNs(int sequence) {
    while (poisson && index < sequence) {
      index++;
      dueNs += intervalNs(index);
    }
    if (stages != null) {
      return inStages(poisson ? dueNs / 1e9 : phase + sequence);
    }
    return poisson ? dueNs : phaseNs + (long) (sequence * 1e9 / rate);
  }

  private long inStages(double operations) {
    while (stage < stages.count()) {
      if (operations < stages.upToEnd(stage)) {
        return stages.timeNs(stage, operations);
      }
      stage++;
    }
    return stages.timeNs();
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
