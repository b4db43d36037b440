package org.klatch.shop.orders;

import org.klatch.exchange.SplitMix;

/**
 * Components that a supplier has to deliver.
 *
 * @param id its number, which no other purchase has
 * @param quantity pieces
 */
public record Purchase(long id, int component, int quantity) {
  /** Pieces of every purchase; a component with less on hand is purchased. */
  public static final int QUANTITY = 1_000;

  /** A number that depends on all fields. */
  public long digest() {
    return SplitMix.output(SplitMix.output(id, component), quantity);
  }
}
