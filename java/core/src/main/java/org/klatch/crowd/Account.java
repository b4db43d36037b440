package org.klatch.crowd;

import java.util.BitSet;

/**
 * Checks that one listener gets every message of each speaker once and in order, and records
 * faults.
 *
 * <p>Belongs to the listener's receiver thread until that has ended.
 */
final class Account {
  private final int room;
  private final int listener;
  private final int[] next; // by speaker: the next sequence number in order
  private final BitSet[] missing; // by speaker: skipped and not yet received; null until needed
  private final Faults faults = new Faults();

  Account(int room, int listener, int users) {
    this.room = room;
    this.listener = listener;
    next = new int[users];
    missing = new BitSet[users];
  }

  /**
   * Records the delivery of message {@code sequence} of {@code speaker}.
   *
   * @return whether it is the first delivery of this message
   */
  boolean record(int speaker, int sequence) {
    if (speaker == listener) {
      fault(Fault.Kind.DUPLICATED, speaker, (long) sequence, "delivered to its own speaker");
      return false;
    }
    int expected = next[speaker];
    if (sequence == expected) {
      next[speaker] = sequence + 1;
      return true;
    }
    if (sequence > expected) {
      if (missing[speaker] == null) {
        missing[speaker] = new BitSet();
      }
      missing[speaker].set(expected, sequence);
      next[speaker] = sequence + 1;
      return true;
    }
    if (missing[speaker] != null && missing[speaker].get(sequence)) {
      missing[speaker].clear(sequence);
      fault(Fault.Kind.REORDERED, speaker, (long) sequence, null);
      return true;
    }
    fault(Fault.Kind.DUPLICATED, speaker, (long) sequence, null);
    return false;
  }

  /** Records a delivery with wrong contents; its sequence number is unknown. */
  void corrupted(int speaker, String detail) {
    fault(Fault.Kind.CORRUPTED, speaker, null, detail);
  }

  /**
   * Adds all faults to {@code total}; {@code sent} has the number of messages sent by each user.
   */
  void addFaultsTo(int[] sent, Faults total) {
    for (int speaker = 0; speaker < next.length; speaker++) {
      if (speaker == listener) {
        continue;
      }
      BitSet gaps = missing[speaker];
      for (int from = gaps == null ? -1 : gaps.nextSetBit(0); from >= 0; ) {
        int to = gaps.nextClearBit(from);
        lost(speaker, from, to);
        from = gaps.nextSetBit(to);
      }
      if (next[speaker] < sent[speaker]) {
        lost(speaker, next[speaker], sent[speaker]);
      }
    }
    total.add(faults);
  }

  private void lost(int speaker, int from, int to) {
    faults.add(new Fault(Fault.Kind.LOST, room, listener, speaker, (long) from, to - from, null));
  }

  private void fault(Fault.Kind kind, int speaker, Long sequence, String detail) {
    faults.add(new Fault(kind, room, listener, speaker, sequence, 1, detail));
  }
}
