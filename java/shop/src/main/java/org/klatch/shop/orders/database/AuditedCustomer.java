package org.klatch.shop.orders.database;

import org.klatch.shop.database.BrokenRules;
import org.klatch.shop.orders.Order;

/** What the audit finds of one customer. Orders are added by ascending ids. */
final class AuditedCustomer {
  private final int customer;
  private final int discount;
  private final long limit;
  private final long owed;
  private long total;
  private long orders;
  private long digests;
  private long lastDigest;

  /**
   * Begins without orders.
   *
   * @param discount discount of the population, hundredths of a per cent
   * @param limit credit limit of the population, cents
   * @param owed what the customer owes as stored, cents
   */
  AuditedCustomer(int customer, int discount, long limit, long owed) {
    this.customer = customer;
    this.discount = discount;
    this.limit = limit;
    this.owed = owed;
  }

  int discount() {
    return discount;
  }

  void add(Order order) {
    orders++;
    total += order.isCancelled() ? 0 : order.total();
    lastDigest = order.digest();
    digests += lastDigest;
  }

  /** Checks what the customer owes. */
  void check(BrokenRules broken) {
    String name = "customer " + customer + " owes " + owed + " cents";
    if (owed != total) {
      broken.add("credit", name + " instead of " + total);
    }
    if (owed > limit) {
      broken.add("credit", name + " with a limit of " + limit);
    }
  }

  /** Appends the customer as a JSON array. */
  void append(StringBuilder json) {
    json.append('[').append(customer).append(',').append(owed).append(',').append(orders);
    json.append(",\"").append(BrokenRules.hex(digests)).append("\",\"");
    json.append(BrokenRules.hex(lastDigest)).append("\"]");
  }
}
