package org.klatch.crowd;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * Times in which the crowd was due to run and did not: it was stopped, got no CPU, or collected
 * garbage. What was late or silent then is its own, and not the server's. Belongs to the crowd's
 * thread, which is due every {@link #TICK_NS}.
 */
final class Gaps {
  /** How often the crowd's thread is due, ns. */
  static final long TICK_NS = 50_000_000;

  /** Delay behind that from which it is a gap, ns. */
  static final long LATE_MIN_NS = 250_000_000;

  /** Largest number of gaps that a result lists; the longest are kept. */
  private static final int MAX = 100;

  private final List<Gap> list = new ArrayList<>();

  /** Whether a thread that ran this much later than it was due makes a gap. */
  static boolean isGap(long lateNs) {
    return lateNs >= LATE_MIN_NS;
  }

  /** Adds a gap of this length that ended {@code toNs} after the gate opened. */
  void add(long toNs, long lengthNs) {
    list.add(new Gap(Math.max(0, toNs - lengthNs) / 1e9, toNs / 1e9));
    if (list.size() > MAX) {
      list.remove(list.stream().min(Comparator.comparingDouble(Gaps::lengthS)).orElseThrow());
    }
  }

  /** All gaps that were kept, in order. */
  List<Gap> list() {
    return List.copyOf(list);
  }

  private static double lengthS(Gap gap) {
    return gap.toS() - gap.fromS();
  }
}
