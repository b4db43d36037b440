package org.klatch.shop.orders.database;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import org.klatch.shop.database.Ids;
import org.klatch.shop.database.Sql;
import org.klatch.shop.orders.Line;
import org.klatch.shop.orders.Order;
import org.klatch.shop.orders.Population;

/** The tables, and their first contents. */
final class Schema {
  private static final int BATCH = 1_000;

  private static final List<String> TABLES =
      List.of(
          "CREATE TABLE order_population (seed BIGINT NOT NULL, rate INT NOT NULL)",
          "CREATE TABLE customers (customer_id INT PRIMARY KEY, discount INT NOT NULL,"
              + " credit_limit BIGINT NOT NULL, owed BIGINT NOT NULL)",
          "CREATE TABLE orders (id BIGINT PRIMARY KEY, customer_id INT NOT NULL,"
              + " is_cancelled BOOLEAN NOT NULL, is_large BOOLEAN NOT NULL, total BIGINT NOT NULL)",
          "CREATE TABLE order_lines (order_id BIGINT NOT NULL, line INT NOT NULL,"
              + " assembly INT NOT NULL, quantity INT NOT NULL, price INT NOT NULL,"
              + " PRIMARY KEY (order_id, line))",
          "CREATE TABLE assemblies (assembly INT PRIMARY KEY, price INT NOT NULL,"
              + " ordered BIGINT NOT NULL, made BIGINT NOT NULL)",
          "CREATE TABLE bills (assembly INT NOT NULL, line INT NOT NULL, component INT NOT NULL,"
              + " quantity INT NOT NULL, PRIMARY KEY (assembly, line))",
          "CREATE TABLE components (component INT PRIMARY KEY, on_hand BIGINT NOT NULL,"
              + " received BIGINT NOT NULL, consumed BIGINT NOT NULL, on_order BIGINT NOT NULL)",
          "CREATE TABLE work_orders (id BIGINT PRIMARY KEY, order_id BIGINT, line INT,"
              + " assembly INT NOT NULL, quantity INT NOT NULL, state INT NOT NULL)",
          "CREATE TABLE purchases (id BIGINT PRIMARY KEY, component INT NOT NULL,"
              + " quantity INT NOT NULL, is_delivered BOOLEAN NOT NULL)");

  private Schema() {}

  /** The population that was loaded; null if there are no tables. */
  static Population loaded(Connection connection) throws SQLException {
    if (!Sql.hasTable(connection, "order_population")) {
      return null;
    }
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery("SELECT seed, rate FROM order_population")) {
      return row.next() ? new Population(row.getLong(1), row.getInt(2)) : null;
    }
  }

  /** Makes the tables and loads a population, in one transaction. */
  static void load(Connection connection, Population population) throws SQLException {
    Sql.execute(connection, TABLES);
    Sql.execute(
        connection,
        List.of(
            Ids.sequence("order_ids", population.customers()),
            Ids.sequence("work_order_ids", 0),
            Ids.sequence("purchase_ids", 0)));
    long[] ordered = new long[population.assemblies()];
    customers(connection, population, ordered);
    assemblies(connection, population, ordered);
    components(connection, population);
    Sql.update(
        connection,
        "INSERT INTO order_population VALUES (?, ?)",
        population.seed(),
        population.rate());
    Sql.execute(connection, indexes(connection));
    connection.commit();
  }

  /** They are made after the load, which is faster. Only PostgreSQL has partial indexes. */
  private static List<String> indexes(Connection connection) throws SQLException {
    boolean isH2 = connection.getMetaData().getDatabaseProductName().equals("H2");
    return List.of(
        "CREATE INDEX orders_of_customer ON orders (customer_id, id)",
        isH2
            ? "CREATE INDEX open_purchases ON purchases (is_delivered, component)"
            : "CREATE INDEX open_purchases ON purchases (component) WHERE NOT is_delivered");
  }

  private static void customers(Connection connection, Population population, long[] ordered)
      throws SQLException {
    try (PreparedStatement customers =
            connection.prepareStatement("INSERT INTO customers VALUES (?, ?, ?, ?)");
        PreparedStatement orders =
            connection.prepareStatement("INSERT INTO orders VALUES (?, ?, FALSE, FALSE, ?)");
        PreparedStatement lines =
            connection.prepareStatement("INSERT INTO order_lines VALUES (?, ?, ?, ?, ?)")) {
      for (int customer = 0; customer < population.customers(); customer++) {
        Population.Customer first = population.customer(customer);
        Order order = first.first();
        Sql.add(customers, customer, first.discount(), first.limit(), order.total());
        Sql.add(orders, order.id(), customer, order.total());
        for (int i = 0; i < order.lines().size(); i++) {
          Line line = order.lines().get(i);
          Sql.add(lines, order.id(), i, line.assembly(), line.quantity(), line.price());
          ordered[line.assembly()] += line.quantity();
        }
        if ((customer + 1) % BATCH == 0 || customer + 1 == population.customers()) {
          Sql.flush(customers, orders, lines);
        }
      }
    }
  }

  private static void assemblies(Connection connection, Population population, long[] ordered)
      throws SQLException {
    try (PreparedStatement assemblies =
            connection.prepareStatement("INSERT INTO assemblies VALUES (?, ?, ?, 0)");
        PreparedStatement bills =
            connection.prepareStatement("INSERT INTO bills VALUES (?, ?, ?, ?)")) {
      for (int number = 0; number < population.assemblies(); number++) {
        Population.Assembly assembly = population.assembly(number);
        Sql.add(assemblies, number, assembly.price(), ordered[number]);
        for (int i = 0; i < assembly.bill().size(); i++) {
          Population.Part part = assembly.bill().get(i);
          Sql.add(bills, number, i, part.component(), part.quantity());
        }
      }
      Sql.flush(assemblies, bills);
    }
  }

  private static void components(Connection connection, Population population) throws SQLException {
    try (PreparedStatement components =
        connection.prepareStatement("INSERT INTO components VALUES (?, ?, 0, 0, 0)")) {
      for (int component = 0; component < population.components(); component++) {
        Sql.add(components, component, population.onHand(component));
      }
      Sql.flush(components);
    }
  }
}
