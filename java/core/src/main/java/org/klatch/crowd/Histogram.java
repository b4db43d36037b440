package org.klatch.crowd;

/**
 * A histogram of non-negative values with a fixed number of buckets for each power of two: 1,024 by
 * default, which resolve three significant digits.
 *
 * <p>Not thread-safe. Memory is allocated in small pages, only where values fall.
 */
public final class Histogram {
  private static final int THREE_DIGITS = 10;
  private static final int PAGE_BITS = 7;

  private final int subBits;
  private final long[][] pages;

  /** Creates an empty histogram. */
  public Histogram() {
    this(THREE_DIGITS);
  }

  /** Creates a histogram with 2^{@code subBits} buckets for each power of two. */
  Histogram(int subBits) {
    this.subBits = subBits;
    pages = new long[(64 << subBits) >> PAGE_BITS][];
  }

  /** Callback for the buckets that are not empty. */
  public interface Visitor {
    /** Visits the bucket with lowest value {@code value}, which holds {@code count} values. */
    void bucket(long value, long count);
  }

  /** Counts a value; a negative one counts as 0. */
  public void record(long value) {
    add(Math.max(value, 0), 1);
  }

  /** Adds all counts of {@code other}. */
  public void add(Histogram other) {
    other.forEach(this::add);
  }

  /** Removes the counts of {@code other}, which were all added before. */
  void subtract(Histogram other) {
    other.forEach((value, count) -> add(value, -count));
  }

  /** Number of counted values. */
  public long total() {
    long[] total = {0};
    forEach((value, count) -> total[0] += count);
    return total[0];
  }

  /**
   * Returns a quantile, as the lowest value of its bucket; 0 if the histogram is empty.
   *
   * @param quantile from 0 to 1
   */
  public long quantile(double quantile) {
    long rank = Math.max(1, (long) Math.ceil(quantile * total()));
    long[] rankAndValue = {0, 0};
    forEach(
        (value, count) -> {
          if (rankAndValue[0] < rank) {
            rankAndValue[1] = value;
          }
          rankAndValue[0] += count;
        });
    return rankAndValue[1];
  }

  /** Visits every bucket that is not empty, lowest first. */
  public void forEach(Visitor visitor) {
    for (int p = 0; p < pages.length; p++) {
      long[] page = pages[p];
      if (page == null) {
        continue;
      }
      for (int i = 0; i < page.length; i++) {
        if (page[i] > 0) {
          visitor.bucket(lowest((p << PAGE_BITS) + i), page[i]);
        }
      }
    }
  }

  private void add(long value, long count) {
    int shift = Math.max(0, 64 - Long.numberOfLeadingZeros(value) - subBits - 1);
    int index = (shift << subBits) + (int) (value >>> shift);
    long[] page = pages[index >> PAGE_BITS];
    if (page == null) {
      page = pages[index >> PAGE_BITS] = new long[1 << PAGE_BITS];
    }
    page[index & ((1 << PAGE_BITS) - 1)] += count;
  }

  private long lowest(int index) {
    int shift = Math.max(0, (index >> subBits) - 1);
    return (long) (index - (shift << subBits)) << shift;
  }
}
