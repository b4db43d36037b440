package org.klatch.shop.orders.database;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.klatch.exchange.web.Status;
import org.klatch.shop.RefusedException;
import org.klatch.shop.orders.Company.Account;
import org.klatch.shop.orders.Company.Summary;
import org.klatch.shop.orders.Line;
import org.klatch.shop.orders.Order;
import org.klatch.shop.orders.Purchase;

/** The queries. Each is one statement, so it reads one state of the database. */
final class Queries {
  private static final int ORDERS_SHOWN = 10;
  private static final int PURCHASES_SHOWN = 20;

  private Queries() {}

  /** Queries an order of a customer. */
  static Order order(Connection connection, int customer, long id)
      throws SQLException, RefusedException {
    try (PreparedStatement query =
        connection.prepareStatement(
            "SELECT o.is_cancelled, o.is_large, o.total, l.assembly, l.quantity, l.price"
                + " FROM orders o JOIN order_lines l ON l.order_id = o.id"
                + " WHERE o.id = ? AND o.customer_id = ? ORDER BY l.line")) {
      query.setLong(1, id);
      query.setInt(2, customer);
      try (ResultSet row = query.executeQuery()) {
        if (!row.next()) {
          throw new RefusedException(
              Status.NOT_FOUND, "customer " + customer + " has no order " + id);
        }
        List<Line> lines = new ArrayList<>();
        boolean isCancelled = row.getBoolean(1);
        boolean isLarge = row.getBoolean(2);
        long total = row.getLong(3);
        do {
          lines.add(new Line(row.getInt(4), row.getInt(5), row.getInt(6)));
        } while (row.next());
        return new Order(id, customer, isCancelled, isLarge, total, lines);
      }
    }
  }

  /** Queries a customer and its last orders. */
  static Account customer(Connection connection, int customer)
      throws SQLException, RefusedException {
    try (PreparedStatement query =
        connection.prepareStatement(
            "SELECT c.discount, c.credit_limit, c.owed, o.id, o.is_cancelled, o.total"
                + " FROM customers c JOIN orders o ON o.customer_id = c.customer_id"
                + " WHERE c.customer_id = ? ORDER BY o.id DESC FETCH FIRST ? ROWS ONLY")) {
      query.setInt(1, customer);
      query.setInt(2, ORDERS_SHOWN);
      try (ResultSet row = query.executeQuery()) {
        if (!row.next()) {
          throw new RefusedException(Status.NOT_FOUND, "there is no customer " + customer);
        }
        List<Summary> orders = new ArrayList<>();
        int discount = row.getInt(1);
        long limit = row.getLong(2);
        long owed = row.getLong(3);
        do {
          orders.add(new Summary(row.getLong(4), row.getBoolean(5), row.getLong(6)));
        } while (row.next());
        return new Account(discount, limit, owed, orders);
      }
    }
  }

  /** Queries the purchases of a supplier that are not delivered, lowest ids first. */
  static List<Purchase> purchases(Connection connection, int supplier, int of) throws SQLException {
    List<Purchase> purchases = new ArrayList<>();
    try (PreparedStatement query =
        connection.prepareStatement(
            "SELECT id, component, quantity FROM purchases"
                + " WHERE is_delivered = FALSE AND MOD(component, ?) = ?"
                + " ORDER BY id FETCH FIRST ? ROWS ONLY")) {
      query.setInt(1, of);
      query.setInt(2, supplier);
      query.setInt(3, PURCHASES_SHOWN);
      try (ResultSet row = query.executeQuery()) {
        while (row.next()) {
          purchases.add(new Purchase(row.getLong(1), row.getInt(2), row.getInt(3)));
        }
      }
    }
    return purchases;
  }
}
