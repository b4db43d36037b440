package org.klatch.shop.orders;

import org.klatch.exchange.SplitMix;

/**
 * The making of an assembly in four steps.
 *
 * @param id its number, which no other work order has
 * @param state 0 before it is scheduled, 1 when it has its components, 4 when it is complete
 * @param quantity pieces
 */
public record WorkOrder(long id, int state, int assembly, int quantity) {
  /** The state of a work order whose pieces are made. */
  public static final int COMPLETE = 4;

  /** A number that depends on the fields that the audit compares. */
  public long digest() {
    return SplitMix.output(SplitMix.output(id, assembly), quantity);
  }
}
