package org.klatch.crowd;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/** Counts every fault by kind, and keeps the first few in full. */
public final class Faults {
  /** How many are kept in full. */
  public static final int KEPT = 20;

  private final List<Fault> first = new ArrayList<>();
  private final Map<Fault.Kind, Long> counts = new EnumMap<>(Fault.Kind.class);

  void add(Fault fault) {
    counts.merge(fault.kind(), fault.count(), Long::sum);
    keep(fault);
  }

  void add(Faults others) {
    others.counts.forEach((kind, count) -> counts.merge(kind, count, Long::sum));
    others.first.forEach(this::keep);
  }

  /** How many messages or deliveries are concerned. */
  public long count(Fault.Kind kind) {
    return counts.getOrDefault(kind, 0L);
  }

  /** The first {@link #KEPT}. */
  public List<Fault> first() {
    return List.copyOf(first);
  }

  /** Whether there was none. */
  public boolean isEmpty() {
    return counts.isEmpty();
  }

  private void keep(Fault fault) {
    if (first.size() < KEPT) {
      first.add(fault);
    }
  }
}
