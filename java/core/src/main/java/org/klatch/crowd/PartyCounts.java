package org.klatch.crowd;

import java.util.stream.LongStream;

/**
 * How operations are spread over the parties of a crowd.
 *
 * @param parties number of parties, at least 1
 * @param least fewest operations of a party
 * @param most most operations of a party
 */
public record PartyCounts(long parties, long least, long most) {
  /** The spread of these counts, one for each party. */
  public static PartyCounts of(LongStream counts) {
    var summary = counts.summaryStatistics();
    return new PartyCounts(summary.getCount(), summary.getMin(), summary.getMax());
  }
}
