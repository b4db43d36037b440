package org.klatch.shop.orders;

import java.util.List;
import org.klatch.shop.RefusedException;
import org.klatch.shop.Statistics;

/**
 * The customers, orders, work orders and purchases, as a database keeps them. Each method is one
 * transaction. They may be called from any thread.
 */
public interface Company extends AutoCloseable {
  /** Enters an order, unless the customer would then owe more than its limit. */
  Entered enter(int customer, List<Item> items) throws RefusedException;

  /**
   * Changes the quantities of an order, unless the customer would then owe more than its limit.
   *
   * @param items the assemblies of the order, in its order, with other quantities
   */
  Changed change(int customer, long order, List<Item> items) throws RefusedException;

  /** Cancels an order that is not large. */
  Changed cancel(int customer, long order) throws RefusedException;

  /** Reads an order of a customer. */
  Order order(int customer, long order) throws RefusedException;

  /** Reads a customer and its last orders. */
  Account customer(int customer) throws RefusedException;

  /** Creates a work order that has its components, so is in state 1. */
  WorkOrder plan(int assembly, int quantity) throws RefusedException;

  /** Takes the components of a work order in state 0, which is then in state 1. */
  WorkOrder schedule(long workOrder) throws RefusedException;

  /**
   * Takes a work order to its next state.
   *
   * @param state the state that it is to have, 2 to 4
   */
  WorkOrder advance(long workOrder, int state) throws RefusedException;

  /**
   * Reads the purchases of a supplier that are not delivered, lowest ids first.
   *
   * @param supplier number of the supplier, from 0
   * @param of number of all suppliers
   */
  List<Purchase> purchases(int supplier, int of) throws RefusedException;

  /** Delivers a purchase. */
  Purchase deliver(long purchase) throws RefusedException;

  /** What was counted since the start. */
  Statistics statistics();

  /** Closes the connections to the database. */
  @Override
  void close();

  /**
   * The result of an order entry.
   *
   * @param order id of the order; null if it is refused
   * @param total cents
   * @param owed what the customer owes afterwards, cents
   * @param workOrders one for each line of a large order, in the order of the lines
   */
  record Entered(Long order, long total, long owed, List<Long> workOrders) {}

  /**
   * The result of a change or a cancellation.
   *
   * @param isRefused whether nothing changed, because of the credit limit
   * @param total total of the order afterwards, cents
   * @param owed what the customer owes afterwards, cents
   */
  record Changed(boolean isRefused, long total, long owed) {}

  /**
   * A customer.
   *
   * @param discount hundredths of a per cent
   * @param limit cents
   * @param owed cents
   * @param orders those with the highest ids, highest first
   */
  record Account(int discount, long limit, long owed, List<Summary> orders) {}

  /**
   * An order of an {@link Account}.
   *
   * @param total cents
   */
  record Summary(long order, boolean isCancelled, long total) {}
}
