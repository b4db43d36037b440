package org.klatch.exchange.web;

import java.util.List;

/**
 * A group of characteristics of users and ads.
 *
 * @param number its place among the groups
 * @param firstBit the first of its bits
 * @param bits number of its characteristics, each of which is one bit
 */
record Group(int number, int firstBit, int bits) {
  static final int COUNT = 5;

  /** Gender, age, region and two interests. */
  static final List<Group> ALL =
      List.of(
          new Group(0, 28, 2),
          new Group(1, 24, 4),
          new Group(2, 20, 4),
          new Group(3, 10, 10),
          new Group(4, 0, 10));

  int mask() {
    return ((1 << bits) - 1) << firstBit;
  }

  /** Byte {@code number} of {@code bits}, the lowest being 0, scaled to a number below a limit. */
  static int pick(long bits, int number, int limit) {
    int randomByte = (int) (bits >>> (8 * number)) & 0xff;
    return randomByte * limit / 256;
  }

  /** One characteristic of each group. */
  static int pickEach(long random) {
    int characteristics = 0;
    for (Group group : ALL) {
      characteristics |= 1 << (group.firstBit + pick(random, group.number, group.bits));
    }
    return characteristics;
  }

  /**
   * The sum of the weights of the groups in which any bit of {@code overlap} is.
   *
   * @param weights five times four bits, those of the first group in the highest
   */
  static int weight(int overlap, int weights) {
    int sum = 0;
    for (Group group : ALL) {
      if ((overlap & group.mask()) != 0) {
        sum += weights >>> (16 - 4 * group.number) & 15;
      }
    }
    return sum;
  }
}
