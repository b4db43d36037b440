package org.klatch.crowd;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.api.Test;

class LatenciesTest {
  private static final long MS = 1_000_000;

  private static String buckets(List<Histogram> intervals) {
    StringBuilder text = new StringBuilder();
    for (Histogram interval : intervals) {
      interval.forEach((value, count) -> text.append(value).append('x').append(count).append(' '));
      text.append('|');
    }
    return text.toString();
  }

  @Property
  void intervalsAreThoseOfATimelineThatCountsEveryDelivery(
      @ForAll List<@LongRange(max = 9_000) Long> gapsMs) {
    Latencies latencies = new Latencies();
    Timeline timeline = new Timeline();
    timeline.record(0, 5000);
    latencies.record(0, 5000);
    long timeMs = 0;
    for (long gapMs : gapsMs) {
      timeMs += gapMs;
      latencies.record(timeMs * MS, 1000 + gapMs);
      timeline.record(timeMs * MS, 1000 + gapMs);
    }
    Histogram all = new Histogram();
    latencies.addTo(all);
    assertEquals(gapsMs.size() + 1, all.total());
    assertEquals(timeline.intervalMs(), latencies.overTime().intervalMs());
    assertEquals(buckets(timeline.intervals()), buckets(latencies.overTime().intervals()));
  }

  @Test
  void anIntervalIsReportedWhenItHasEnded() {
    Latencies latencies = new Latencies();
    latencies.record(MS, 1000);
    Histogram first = Timeline.histogram();
    latencies.moveUnreportedTo(first);
    latencies.record(26 * MS, 1000);
    Histogram second = Timeline.histogram();
    latencies.moveUnreportedTo(second);
    assertEquals(List.of(0L, 1L), List.of(first.total(), second.total()));
  }
}
