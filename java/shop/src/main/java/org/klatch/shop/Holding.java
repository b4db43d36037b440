package org.klatch.shop;

import org.klatch.exchange.SplitMix;

/**
 * Shares that a user holds.
 *
 * @param id its number, which no other holding has
 * @param symbol the quote
 * @param quantity number of shares
 * @param paid price of a share when it was bought, cents
 */
public record Holding(long id, int symbol, int quantity, int paid) {
  /** What was paid for the shares, cents. */
  public long cost() {
    return (long) quantity * paid;
  }

  /** A number that depends on all fields. */
  public long digest() {
    long digest = SplitMix.output(id, symbol);
    digest = SplitMix.output(digest, quantity);
    return SplitMix.output(digest, paid);
  }
}
