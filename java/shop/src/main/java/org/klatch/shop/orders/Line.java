package org.klatch.shop.orders;

import java.util.List;

/**
 * A line of a stored order.
 *
 * @param quantity pieces
 * @param price price of a piece, cents
 */
public record Line(int assembly, int quantity, int price) {
  /** Orders with more pieces are large. */
  private static final int SMALL_MAX_PIECES = 50;

  private static final int WHOLE = 10_000; // hundredths of a per cent

  /**
   * The total of an order with these lines, cents.
   *
   * @param discount hundredths of a per cent
   */
  public static long total(List<Line> lines, int discount) {
    long value = lines.stream().mapToLong(line -> (long) line.price * line.quantity).sum();
    return (value * (WHOLE - discount) + WHOLE / 2) / WHOLE;
  }

  /** Whether an order with these lines is large. */
  public static boolean areLarge(List<Line> lines) {
    return lines.stream().mapToInt(Line::quantity).sum() > SMALL_MAX_PIECES;
  }
}
