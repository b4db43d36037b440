package org.klatch.shop.orders.database;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.klatch.shop.database.BrokenRules;
import org.klatch.shop.orders.Item;
import org.klatch.shop.orders.Line;
import org.klatch.shop.orders.Order;
import org.klatch.shop.orders.Population;

/** The audit of customers and orders. */
final class OrderAudit {
  private final Population population;
  private final BrokenRules broken;
  private final AuditedCustomer[] customers; // null if missing
  private final int[] prices;
  private final long[] ordered;
  private final Map<LineId, Item> largeLines = new HashMap<>();
  private long orders;

  /**
   * A line of an order.
   *
   * @param line its number, from 0
   */
  record LineId(long order, int line) {}

  OrderAudit(Population population, BrokenRules broken) {
    this.population = population;
    this.broken = broken;
    customers = new AuditedCustomer[population.customers()];
    prices = new int[population.assemblies()];
    ordered = new long[population.assemblies()];
    for (int assembly = 0; assembly < prices.length; assembly++) {
      prices[assembly] = population.price(assembly);
    }
  }

  /** Pieces of an assembly that orders have which are not cancelled. */
  long ordered(int assembly) {
    return ordered[assembly];
  }

  /** The lines of large orders, each of which has a work order. */
  Map<LineId, Item> largeLines() {
    return largeLines;
  }

  /** Reads customers, orders and lines. */
  void read(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement();
        Statement ofLines = connection.createStatement()) {
      statement.setFetchSize(Audit.ROWS_AT_ONCE);
      ofLines.setFetchSize(Audit.ROWS_AT_ONCE);
      customers(statement);
      orders(statement, ofLines);
    }
    for (int customer = 0; customer < customers.length; customer++) {
      if (customers[customer] == null) {
        broken.add("population", "customer " + customer + " is missing");
      } else {
        customers[customer].check(broken);
      }
    }
  }

  private void customers(Statement statement) throws SQLException {
    try (ResultSet row =
        statement.executeQuery("SELECT customer_id, discount, credit_limit, owed FROM customers")) {
      while (row.next()) {
        int number = row.getInt(1);
        String name = "customer " + number;
        if (number < 0 || number >= customers.length) {
          broken.add("population", name + " is not of the population");
          continue;
        }
        Population.Customer first = population.customer(number);
        if (row.getInt(2) != first.discount()) {
          broken.add("population", name + " has the discount " + row.getInt(2));
        }
        if (row.getLong(3) != first.limit()) {
          broken.add("population", name + " has the limit " + row.getLong(3));
        }
        customers[number] =
            new AuditedCustomer(number, first.discount(), first.limit(), row.getLong(4));
      }
    }
  }

  /** Reads orders and lines by ascending ids of orders, side by side. */
  private void orders(Statement statement, Statement ofLines) throws SQLException {
    long firstOrders = 0;
    try (ResultSet row =
            statement.executeQuery(
                "SELECT id, customer_id, is_cancelled, is_large, total FROM orders ORDER BY id");
        ResultSet line =
            ofLines.executeQuery(
                "SELECT order_id, line, assembly, quantity, price FROM order_lines"
                    + " ORDER BY order_id, line")) {
      boolean hasLine = line.next();
      while (row.next()) {
        orders++;
        long id = row.getLong(1);
        hasLine = skipLines(line, hasLine, id);
        List<Line> lines = new ArrayList<>();
        boolean isNumbered = true;
        while (hasLine && line.getLong(1) == id) {
          isNumbered &= line.getInt(2) == lines.size();
          lines.add(new Line(line.getInt(3), line.getInt(4), line.getInt(5)));
          hasLine = line.next();
        }
        if (!isNumbered || lines.isEmpty()) {
          broken.add("totals", "order " + id + " has no lines, or a gap in their numbers");
        }
        check(
            new Order(
                id, row.getInt(2), row.getBoolean(3), row.getBoolean(4), row.getLong(5), lines));
        firstOrders += id < customers.length ? 1 : 0;
      }
      skipLines(line, hasLine, Long.MAX_VALUE);
    }
    if (firstOrders != customers.length) {
      broken.add("population", firstOrders + " first orders instead of " + customers.length);
    }
  }

  /** Skips lines before an order, which belong to none. Returns whether there is one more line. */
  private boolean skipLines(ResultSet line, boolean hasLine, long order) throws SQLException {
    boolean hasMore = hasLine;
    while (hasMore && line.getLong(1) < order) {
      broken.add("totals", "a line has the order " + line.getLong(1) + ", which is missing");
      hasMore = line.next();
    }
    return hasMore;
  }

  private void check(Order order) {
    String name = "order " + order.id() + " of customer " + order.customer();
    if (order.id() < customers.length && !isFirst(order)) {
      broken.add("population", name + " is not the first order of the population");
    }
    for (int i = 0; i < order.lines().size(); i++) {
      Line line = order.lines().get(i);
      int assembly = line.assembly();
      if (assembly < 0 || assembly >= prices.length) {
        broken.add("population", name + " has the unknown assembly " + assembly);
        continue;
      }
      if (line.price() != prices[assembly]) {
        broken.add("totals", name + " has the price " + line.price() + " of " + assembly);
      }
      ordered[assembly] += order.isCancelled() ? 0 : line.quantity();
      if (order.isLarge()) {
        largeLines.put(new LineId(order.id(), i), new Item(assembly, line.quantity()));
      }
    }
    if (order.isLarge() != Line.areLarge(order.lines())) {
      broken.add("large", name + (order.isLarge() ? " is large" : " is not large"));
    }
    boolean isKnown = order.customer() >= 0 && order.customer() < customers.length;
    AuditedCustomer customer = isKnown ? customers[order.customer()] : null;
    if (customer == null) {
      broken.add("population", name + " has no customer");
      return;
    }
    customer.add(order);
    long total = Line.total(order.lines(), customer.discount());
    if (order.total() != total) {
      broken.add("totals", name + " has the total " + order.total() + " instead of " + total);
    }
  }

  /** Whether an order can be what became of a first order: the quantities may have changed. */
  private boolean isFirst(Order order) {
    if (order.id() < 0 || order.id() != order.customer()) {
      return false;
    }
    List<Line> first = population.customer(order.customer()).first().lines();
    return assemblies(first).equals(assemblies(order.lines()));
  }

  private static List<Integer> assemblies(List<Line> lines) {
    return lines.stream().map(Line::assembly).toList();
  }

  /** Appends the fields about orders, without a comma before them. */
  void append(StringBuilder json) {
    json.append("\"customers\":[");
    String separator = "";
    for (AuditedCustomer customer : customers) {
      if (customer != null) {
        customer.append(json.append(separator));
        separator = ",";
      }
    }
    json.append("],\"orders\":").append(orders);
  }
}
