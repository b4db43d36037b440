package org.klatch.shop.orders;

import java.util.List;
import org.klatch.exchange.SplitMix;

/**
 * An order of a customer.
 *
 * @param id its number, which no other order has
 * @param isLarge whether each line has a work order
 * @param total cents, after the discount
 */
public record Order(
    long id, int customer, boolean isCancelled, boolean isLarge, long total, List<Line> lines) {
  /** The status as in replies. */
  public String status() {
    return status(isCancelled);
  }

  static String status(boolean isCancelled) {
    return isCancelled ? "cancelled" : "open";
  }

  /** A number that depends on the fields that the audit compares. */
  public long digest() {
    long digest = SplitMix.output(SplitMix.output(id, customer), total);
    digest = SplitMix.output(digest, isCancelled ? 1 : 0);
    for (Line line : lines) {
      digest = SplitMix.output(SplitMix.output(digest, line.assembly()), line.quantity());
    }
    return digest;
  }
}
