package org.klatch.crowd;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.LongRange;
import net.jqwik.api.constraints.NotEmpty;
import org.junit.jupiter.api.Test;

class TimelineTest {
  private static final long MS = 1_000_000;

  @Property
  void eachDeliveryIsInTheIntervalOfItsTime(
      @ForAll @NotEmpty List<@LongRange(max = 200_000) Long> timesMs) {
    Timeline one = new Timeline();
    Timeline other = new Timeline();
    for (int i = 0; i < timesMs.size(); i++) {
      (i % 2 == 0 ? one : other).record(timesMs.get(i) * MS, 1000);
    }
    Timeline all = new Timeline();
    all.add(one);
    all.add(other);
    assertTrue(all.intervals().size() <= 128, "intervals: " + all.intervals().size());
    for (int index = 0; index < all.intervals().size(); index++) {
      long interval = index;
      long expected = timesMs.stream().filter(ms -> ms / all.intervalMs() == interval).count();
      assertEquals(expected, all.intervals().get(index).total());
    }
  }

  @Test
  void aTimeWithoutDeliveriesIsAnEmptyInterval() {
    Timeline timeline = new Timeline();
    timeline.record(1 * MS, 1000);
    timeline.record(60 * MS, 40 * MS);
    assertEquals(List.of(1L, 0L, 1L), timeline.intervals().stream().map(Histogram::total).toList());
    assertEquals(992, timeline.intervals().get(0).quantile(1), "16 buckets for each power of two");
  }

  @Test
  void unreportedLatenciesAreReportedOnce() {
    Timeline timeline = new Timeline();
    timeline.record(MS, 1000);
    Histogram first = Timeline.histogram();
    timeline.moveUnreportedTo(first);
    Histogram second = Timeline.histogram();
    timeline.moveUnreportedTo(second);
    assertEquals(List.of(1L, 0L), List.of(first.total(), second.total()));
  }
}
