package org.klatch.crowd;

/**
 * Counts of values, whatever their size, in as many buckets for each power of two as it is made
 * with: 1,024 hold three significant digits.
 *
 * <p>Belongs to one thread while it records. Memory is taken in small pages, where values fall.
 */
public final class Histogram {
  private static final int THREE_DIGITS = 10;
  private static final int PAGE_BITS = 7;

  private final int subBits;
  private final long[][] pages;

  Histogram() {
    this(THREE_DIGITS);
  }

  /** One with two to the power of {@code subBits} buckets for each power of two. */
  Histogram(int subBits) {
    this.subBits = subBits;
    pages = new long[(64 << subBits) >> PAGE_BITS][];
  }

  /** What is called for each bucket that is not empty. */
  public interface Visitor {
    /** Sees {@code count} values in the bucket whose lowest value is {@code value}. */
    void bucket(long value, long count);
  }

  /** Counts a value; what is below 0 counts as 0. */
  public void record(long value) {
    add(Math.max(value, 0), 1);
  }

  /** Adds all that {@code other} has counted. */
  public void add(Histogram other) {
    other.forEach(this::add);
  }

  /** How many values were counted. */
  public long total() {
    long[] total = {0};
    forEach((value, count) -> total[0] += count);
    return total[0];
  }

  /**
   * The value that {@code share} of all values do not exceed, as the lowest of its bucket; 0 if
   * empty.
   *
   * @param share from 0 to 1
   */
  public long quantile(double share) {
    long rank = Math.max(1, (long) Math.ceil(share * total()));
    long[] seenAndValue = {0, 0};
    forEach(
        (value, count) -> {
          if (seenAndValue[0] < rank) {
            seenAndValue[1] = value;
          }
          seenAndValue[0] += count;
        });
    return seenAndValue[1];
  }

  /** Shows every bucket that is not empty, lowest first. */
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
