package org.klatch.crowd;

import org.klatch.chat.Text;

/**
 * The intended send times of one user under pacing {@code rate}: see "The schedule" in
 * docs/reference/protocol.md.
 */
final class Schedule {
  private static final long STEP = 0x9e3779b97f4a7c15L;

  private final long phaseNs;
  private final double rate;

  /**
   * Creates the schedule of one user.
   *
   * @param seed 64 bits, unsigned
   * @param rate messages a second, above 0
   */
  Schedule(long seed, int room, int user, double rate) {
    this.rate = rate;
    long random = splitMix64(splitMix64(seed, 0), (long) room << 32 | user);
    double share = (random >>> 11) / (double) (1L << 53);
    phaseNs = (long) (share * 1e9 / rate);
  }

  /** Intended send time of message {@code sequence}, from 0; ns after the gate opens. */
  long dueNs(int sequence) {
    return phaseNs + (long) (sequence * 1e9 / rate);
  }

  /** Output number {@code index}, from 0, of a SplitMix64 generator with this seed. */
  private static long splitMix64(long seed, long index) {
    return Text.mix(seed + (index + 1) * STEP);
  }
}
