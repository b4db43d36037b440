package org.klatch.shop.database;

import org.klatch.shop.Holding;
import org.klatch.shop.Order;

/** What the audit finds of one user. */
final class AuditedUser {
  private final long user;
  private final long balance;
  private final long openBalance;
  private final int logins;
  private final int logouts;
  private final long revision;
  private long gain;
  private long orders;
  private long orderDigests;
  private Order last; // the one with the highest id
  private long holdings;
  private long holdingDigests;

  AuditedUser(long user, long balance, long openBalance, int logins, int logouts, long revision) {
    this.user = user;
    this.balance = balance;
    this.openBalance = openBalance;
    this.logins = logins;
    this.logouts = logouts;
    this.revision = revision;
  }

  long openBalance() {
    return openBalance;
  }

  void add(Order order) {
    gain += order.gain();
    orders++;
    orderDigests += order.digest();
    if (last == null || order.id() > last.id()) {
      last = order;
    }
  }

  void add(Holding holding) {
    holdings++;
    holdingDigests += holding.digest();
  }

  /** Checks the rules that concern one user alone. */
  void check(BrokenRules broken) {
    if (balance != openBalance + gain) {
      broken.add(
          "money",
          "user " + user + " has " + balance + " cents instead of " + (openBalance + gain));
    }
    int open = logins - logouts;
    if (open != 0 && open != 1) {
      broken.add("sessions", "user " + user + " has " + open + " open sessions");
    }
    if (revision < 0) {
      broken.add("population", "user " + user + " has a profile of several revisions, or none");
    }
  }

  /** Appends the user as a JSON array. */
  void append(StringBuilder json) {
    json.append('[').append(user).append(',').append(balance);
    json.append(',').append(logins).append(',').append(logouts).append(',').append(revision);
    json.append(',')
        .append(orders)
        .append(",\"")
        .append(BrokenRules.hex(orderDigests))
        .append("\",");
    json.append(holdings).append(",\"").append(BrokenRules.hex(holdingDigests)).append("\",\"");
    json.append(BrokenRules.hex(last == null ? 0 : last.digest())).append("\"]");
  }
}
