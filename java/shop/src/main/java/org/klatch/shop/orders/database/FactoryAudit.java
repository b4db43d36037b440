package org.klatch.shop.orders.database;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import org.klatch.shop.database.BrokenRules;
import org.klatch.shop.orders.Item;
import org.klatch.shop.orders.Population;
import org.klatch.shop.orders.WorkOrder;

/** The audit of assemblies and work orders. */
final class FactoryAudit {
  private final Population population;
  private final BrokenRules broken;
  private final OrderAudit orders;
  private final long[] scheduled;
  private final long[] made;
  private long complete;
  private long completeDigests;
  private long unfinished;

  FactoryAudit(Population population, BrokenRules broken, OrderAudit orders) {
    this.population = population;
    this.broken = broken;
    this.orders = orders;
    scheduled = new long[population.assemblies()];
    made = new long[population.assemblies()];
  }

  /** Pieces of an assembly whose work orders have their components. */
  long scheduled(int assembly) {
    return scheduled[assembly];
  }

  /** Reads work orders, assemblies and bills. */
  void read(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.setFetchSize(Audit.ROWS_AT_ONCE);
      workOrders(statement);
      assemblies(statement);
      bills(statement);
    }
  }

  private void workOrders(Statement statement) throws SQLException {
    try (ResultSet row =
        statement.executeQuery(
            "SELECT id, state, assembly, quantity, order_id, line FROM work_orders")) {
      while (row.next()) {
        WorkOrder workOrder =
            new WorkOrder(row.getLong(1), row.getInt(2), row.getInt(3), row.getInt(4));
        long order = row.getLong(5);
        check(workOrder, row.wasNull() ? null : new OrderAudit.LineId(order, row.getInt(6)));
      }
    }
    for (OrderAudit.LineId line : orders.largeLines().keySet()) {
      broken.add(
          "large", "line " + line.line() + " of order " + line.order() + " has no work order");
    }
  }

  /**
   * Checks a work order.
   *
   * @param line the line that it is of; null if it was planned
   */
  private void check(WorkOrder workOrder, OrderAudit.LineId line) {
    String name = "work order " + workOrder.id();
    if (line != null) {
      Item item = orders.largeLines().remove(line);
      if (!new Item(workOrder.assembly(), workOrder.quantity()).equals(item)) {
        broken.add(
            "large",
            name
                + " does not fit line "
                + line.line()
                + " of order "
                + line.order()
                + ", or is its second");
      }
    }
    int state = workOrder.state();
    if (state < 0 || state > WorkOrder.COMPLETE) {
      broken.add("work", name + " is in state " + state);
    }
    if (state == WorkOrder.COMPLETE) {
      complete++;
      completeDigests += workOrder.digest();
    } else {
      unfinished++;
    }
    int assembly = workOrder.assembly();
    if (assembly < 0 || assembly >= made.length) {
      broken.add("population", name + " has the unknown assembly " + assembly);
      return;
    }
    scheduled[assembly] += state > 0 && state <= WorkOrder.COMPLETE ? workOrder.quantity() : 0;
    made[assembly] += state == WorkOrder.COMPLETE ? workOrder.quantity() : 0;
  }

  private void assemblies(Statement statement) throws SQLException {
    int count = 0;
    try (ResultSet row =
        statement.executeQuery("SELECT assembly, price, ordered, made FROM assemblies")) {
      while (row.next()) {
        count++;
        int assembly = row.getInt(1);
        String name = "assembly " + assembly;
        if (assembly < 0 || assembly >= made.length) {
          broken.add("population", name + " is not of the population");
          continue;
        }
        if (row.getInt(2) != population.price(assembly)) {
          broken.add("population", name + " has the price " + row.getInt(2));
        }
        long ordered = orders.ordered(assembly);
        if (row.getLong(3) != ordered) {
          broken.add(
              "ordered", name + " has " + row.getLong(3) + " ordered, and orders have " + ordered);
        }
        if (row.getLong(4) != made[assembly]) {
          broken.add(
              "made",
              name + " has " + row.getLong(4) + " made, and work orders have " + made[assembly]);
        }
      }
    }
    if (count != made.length) {
      broken.add("population", count + " assemblies instead of " + made.length);
    }
  }

  private void bills(Statement statement) throws SQLException {
    int missing = 0;
    for (int assembly = 0; assembly < made.length; assembly++) {
      missing += population.assembly(assembly).bill().size();
    }
    try (ResultSet row =
        statement.executeQuery("SELECT assembly, line, component, quantity FROM bills")) {
      while (row.next()) {
        int assembly = row.getInt(1);
        int line = row.getInt(2);
        Population.Part part = new Population.Part(row.getInt(3), row.getInt(4));
        if (isOfBill(assembly, line, part)) {
          missing--;
        } else {
          broken.add(
              "population", "the bill of assembly " + assembly + " has another line " + line);
        }
      }
    }
    if (missing != 0) {
      broken.add("population", missing + " lines of bills are missing");
    }
  }

  private boolean isOfBill(int assembly, int line, Population.Part part) {
    if (assembly < 0 || assembly >= made.length) {
      return false;
    }
    var bill = population.assembly(assembly).bill();
    return line >= 0 && line < bill.size() && bill.get(line).equals(part);
  }

  /** Appends the fields about work orders, with a comma before them. */
  void append(StringBuilder json) {
    json.append(",\"complete\":").append(complete);
    json.append(",\"complete_sum\":\"").append(BrokenRules.hex(completeDigests));
    json.append("\",\"unfinished\":").append(unfinished);
  }
}
