package org.klatch.shop.orders.database;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import org.klatch.shop.database.BrokenRules;
import org.klatch.shop.orders.Population;
import org.klatch.shop.orders.Purchase;

/** The audit of components and purchases. */
final class StockAudit {
  private final Population population;
  private final BrokenRules broken;
  private final long[] consumed;
  private final long[] received;
  private final long[] onOrder;
  private long delivered;
  private long deliveredDigests;

  StockAudit(Population population, BrokenRules broken, FactoryAudit factory) {
    this.population = population;
    this.broken = broken;
    consumed = new long[population.components()];
    received = new long[population.components()];
    onOrder = new long[population.components()];
    for (int assembly = 0; assembly < population.assemblies(); assembly++) {
      for (Population.Part part : population.assembly(assembly).bill()) {
        consumed[part.component()] += part.quantity() * factory.scheduled(assembly);
      }
    }
  }

  /** Reads purchases and components. */
  void read(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.setFetchSize(Audit.ROWS_AT_ONCE);
      purchases(statement);
      components(statement);
    }
  }

  private void purchases(Statement statement) throws SQLException {
    int[] open = new int[onOrder.length];
    try (ResultSet row =
        statement.executeQuery("SELECT id, component, quantity, is_delivered FROM purchases")) {
      while (row.next()) {
        Purchase purchase = new Purchase(row.getLong(1), row.getInt(2), row.getInt(3));
        boolean isDelivered = row.getBoolean(4);
        String name = "purchase " + purchase.id();
        if (purchase.quantity() != Purchase.QUANTITY) {
          broken.add("purchases", name + " is of " + purchase.quantity() + " pieces");
        }
        if (isDelivered) {
          delivered++;
          deliveredDigests += purchase.digest();
        }
        int component = purchase.component();
        if (component < 0 || component >= onOrder.length) {
          broken.add("population", name + " has the unknown component " + component);
          continue;
        }
        (isDelivered ? received : onOrder)[component] += purchase.quantity();
        if (!isDelivered) {
          open[component]++;
          if (open[component] > 1) {
            broken.add(
                "purchases", name + " of component " + component + " is open beside another");
          }
        }
      }
    }
  }

  private void components(Statement statement) throws SQLException {
    int count = 0;
    try (ResultSet row =
        statement.executeQuery(
            "SELECT component, on_hand, received, consumed, on_order FROM components")) {
      while (row.next()) {
        count++;
        int component = row.getInt(1);
        if (component < 0 || component >= onOrder.length) {
          broken.add("population", "component " + component + " is not of the population");
          continue;
        }
        long onHand = population.onHand(component) + row.getLong(3) - row.getLong(4);
        check(component, "on hand", row.getLong(2), onHand);
        check(component, "received", row.getLong(3), received[component]);
        check(component, "consumed", row.getLong(4), consumed[component]);
        check(component, "on order", row.getLong(5), onOrder[component]);
        if (row.getLong(2) < 0) {
          broken.add("components", "component " + component + " has less than none on hand");
        }
      }
    }
    if (count != onOrder.length) {
      broken.add("population", count + " components instead of " + onOrder.length);
    }
  }

  private void check(int component, String name, long stored, long expected) {
    if (stored != expected) {
      broken.add(
          "components",
          "component %d has %d %s instead of %d".formatted(component, stored, name, expected));
    }
  }

  /** Appends the fields about purchases, with a comma before them. */
  void append(StringBuilder json) {
    json.append(",\"delivered\":").append(delivered);
    json.append(",\"delivered_sum\":\"").append(BrokenRules.hex(deliveredDigests)).append('"');
  }
}
