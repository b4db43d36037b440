package org.klatch.crowd;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.TreeMap;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.api.Test;

class HistogramTest {
  @Property
  void aBucketIsAtMostAThousandthBelowItsValues(@ForAll @LongRange(max = 1L << 52) long value) {
    Histogram histogram = new Histogram();
    histogram.record(value);
    long lowest = histogram.quantile(1);
    assertTrue(lowest <= value && value - lowest <= value / 1000, value + " is in " + lowest);
    Histogram again = new Histogram();
    again.record(lowest);
    assertEquals(lowest, again.quantile(1), "the lowest value is in its own bucket");
  }

  @Property
  void bucketsAreInOrderAndCountEverything(@ForAll List<@LongRange(max = 1L << 40) Long> values) {
    Histogram one = new Histogram();
    Histogram other = new Histogram();
    for (int i = 0; i < values.size(); i++) {
      (i % 2 == 0 ? one : other).record(values.get(i));
    }
    one.add(other);
    assertEquals(values.size(), one.total());
    TreeMap<Long, Long> counts = new TreeMap<>();
    one.forEach(
        (value, count) -> {
          assertTrue(counts.isEmpty() || counts.lastKey() < value);
          counts.put(value, count);
        });
    assertEquals(values.size(), counts.values().stream().mapToLong(Long::longValue).sum());
  }

  @Test
  void quantilesOfAThousandValues() {
    Histogram histogram = new Histogram();
    assertEquals(0, histogram.quantile(0.5));
    for (long value = 1; value <= 1000; value++) {
      histogram.record(value);
    }
    assertEquals(500, histogram.quantile(0.5));
    assertEquals(990, histogram.quantile(0.99));
    assertEquals(1000, histogram.quantile(1));
    assertEquals(1, histogram.quantile(0));
  }

  @Test
  void aNegativeValueCountsAsZero() {
    Histogram histogram = new Histogram();
    histogram.record(-5);
    assertEquals(1, histogram.total());
    assertEquals(0, histogram.quantile(1));
  }
}
