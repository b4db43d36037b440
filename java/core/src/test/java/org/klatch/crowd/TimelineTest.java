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
  void howeverLongItTakesEachDeliveryIsInTheIntervalOfItsMoment(
      @ForAll @NotEmpty List<@LongRange(max = 200_000) Long> momentsMs) {
    Timeline one = new Timeline();
    Timeline other = new Timeline();
    for (int i = 0; i < momentsMs.size(); i++) {
      (i % 2 == 0 ? one : other).record(momentsMs.get(i) * MS, 1000);
    }
    Timeline all = new Timeline();
    all.add(one);
    all.add(other);
    assertTrue(all.intervals().size() <= 128, "there are " + all.intervals().size());
    for (int place = 0; place < all.intervals().size(); place++) {
      long here = place;
      long wanted = momentsMs.stream().filter(ms -> ms / all.intervalMs() == here).count();
      assertEquals(wanted, all.intervals().get(place).total());
    }
  }

  @Test
  void aMomentWithoutDeliveriesIsAnEmptyInterval() {
    Timeline timeline = new Timeline();
    timeline.record(1 * MS, 1000);
    timeline.record(60 * MS, 40 * MS);
    assertEquals(List.of(1L, 0L, 1L), timeline.intervals().stream().map(Histogram::total).toList());
    assertEquals(992, timeline.intervals().get(0).quantile(1), "buckets are a sixteenth wide");
  }

  @Test
  void whatIsFreshIsToldOnce() {
    Timeline timeline = new Timeline();
    timeline.record(MS, 1000);
    Histogram first = Timeline.histogram();
    timeline.moveFreshTo(first);
    Histogram second = Timeline.histogram();
    timeline.moveFreshTo(second);
    assertEquals(List.of(1L, 0L), List.of(first.total(), second.total()));
  }
}
