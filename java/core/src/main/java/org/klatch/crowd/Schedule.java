package org.klatch.crowd;

import org.klatch.chat.Text;

/**
 * When a user's messages are due under pacing {@code rate}. Docs: "The schedule" in
 * docs/reference/protocol.md.
 */
final class Schedule {
  private static final long STEP = 0x9e3779b97f4a7c15L;

  private final long phaseNs;
  private final double rate;

  /**
   * The schedule of one user.
   *
   * @param seed all 64 bits count, as an unsigned number
   * @param rate messages a second, above 0
   */
  Schedule(long seed, int room, int user, double rate) {
    this.rate = rate;
    long random = splitMix64(splitMix64(seed, 0), (long) room << 32 | user);
    double share = (random >>> 11) / (double) (1L << 53);
    phaseNs = (long) (share * 1e9 / rate);
  }

  /** Returns when message {@code sequence}, from 0, is due, ns after the gate opens. */
  long dueNs(int sequence) {
    return phaseNs + (long) (sequence * 1e9 / rate);
  }

  /** Output number {@code place}, from 0, of a SplitMix64 generator with this seed. */
  private static long splitMix64(long seed, long place) {
    return Text.mix(seed + (place + 1) * STEP);
  }
}
