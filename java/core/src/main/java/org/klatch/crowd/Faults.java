package org.klatch.crowd;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/** Counts faults by kind, and stores the first few with their details. */
public final class Faults {
  /** Most faults stored with their details. */
  public static final int DETAILED_MAX = 20;

  private final List<Fault> first = new ArrayList<>();
  private final Map<Fault.Kind, Long> counts = new EnumMap<>(Fault.Kind.class);

  /** Counts a fault. */
  public void add(Fault fault) {
    counts.merge(fault.kind(), fault.count(), Long::sum);
    addDetails(fault);
  }

  /** Adds all faults of {@code others}. */
  public void add(Faults others) {
    others.counts.forEach((kind, count) -> counts.merge(kind, count, Long::sum));
    others.first.forEach(this::addDetails);
  }

  /** Number of affected messages or deliveries. */
  public long count(Fault.Kind kind) {
    return counts.getOrDefault(kind, 0L);
  }

  /** Returns the first {@link #DETAILED_MAX} faults with their details. */
  public List<Fault> first() {
    return List.copyOf(first);
  }

  /** Whether no fault was added. */
  public boolean isEmpty() {
    return counts.isEmpty();
  }

  private void addDetails(Fault fault) {
    if (first.size() < DETAILED_MAX) {
      first.add(fault);
    }
  }
}
