package org.klatch.shop.orders.database;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Locale;
import org.klatch.shop.database.BrokenRules;
import org.klatch.shop.orders.Population;

/** Checks all rules in a database that no server uses any more. */
final class Audit {
  /** Rows that PostgreSQL sends at once. */
  static final int ROWS_AT_ONCE = 10_000;

  private final Population population;
  private final BrokenRules broken = new BrokenRules();

  Audit(Population population) {
    this.population = population;
  }

  /** Reads all tables. Returns what it finds, as one JSON object. */
  String run(Connection connection) throws SQLException {
    long startNs = System.nanoTime();
    OrderAudit orders = new OrderAudit(population, broken);
    orders.read(connection);
    FactoryAudit factory = new FactoryAudit(population, broken, orders);
    factory.read(connection);
    StockAudit stock = new StockAudit(population, broken, factory);
    stock.read(connection);
    double seconds = (System.nanoTime() - startNs) / 1e9;
    StringBuilder json = new StringBuilder(1 << 16).append('{');
    orders.append(json);
    factory.append(json);
    stock.append(json);
    broken.append(json.append(",\"broken\":"));
    return json.append(String.format(Locale.ROOT, ",\"seconds\":%.3f}", seconds)).toString();
  }
}
