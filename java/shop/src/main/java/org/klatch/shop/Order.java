package org.klatch.shop;

import org.klatch.exchange.SplitMix;

/**
 * An order that is closed.
 *
 * @param id its number, which no other order has
 * @param isSell whether it sold
 * @param symbol the quote
 * @param quantity number of shares
 * @param price price of a share, cents
 * @param changes the changes of the quote at this price
 * @param fee cents
 * @param holding the holding that was bought or sold
 */
public record Order(
    long id,
    boolean isSell,
    int symbol,
    int quantity,
    int price,
    int changes,
    long fee,
    long holding) {
  /** The fee of every order, cents. */
  public static final long FEE = 2_495;

  /** What the order adds to the balance of its account, cents. */
  public long gain() {
    long value = (long) quantity * price;
    return (isSell ? value : -value) - fee;
  }

  /** A number that depends on the fields that the audit compares. */
  public long digest() {
    long digest = SplitMix.output(id, symbol);
    digest = SplitMix.output(digest, quantity);
    digest = SplitMix.output(digest, price);
    digest = SplitMix.output(digest, holding);
    return SplitMix.output(digest, isSell ? 1 : 0);
  }
}
