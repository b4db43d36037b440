package org.klatch.shop.orders.database;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.klatch.exchange.web.Status;
import org.klatch.shop.RefusedException;
import org.klatch.shop.database.Database;
import org.klatch.shop.database.Ids;
import org.klatch.shop.database.Sql;
import org.klatch.shop.orders.Population.Part;
import org.klatch.shop.orders.Purchase;

/** The components on hand, and the purchases that replace those taken. */
class Stock {
  private final Ids purchaseIds;

  /**
   * A component that is locked.
   *
   * @param onHand pieces
   * @param onOrder pieces
   */
  record Component(int number, long onHand, long onOrder) {}

  Stock(Database database) {
    purchaseIds = new Ids(database.nextValue("purchase_ids"));
  }

  /** Takes all components of some pieces of an assembly, or none. */
  void take(Connection connection, int assembly, int quantity)
      throws SQLException, RefusedException {
    List<Part> bill = bill(connection, assembly);
    List<Component> components = new ArrayList<>(bill.size());
    for (Part part : bill) {
      Component component = lock(connection, part.component());
      check(component, part.quantity() * quantity);
      components.add(component);
    }
    for (int i = 0; i < components.size(); i++) {
      take(connection, components.get(i), bill.get(i).quantity() * quantity);
    }
  }

  /** The components of an assembly, in ascending order, so that no two transactions deadlock. */
  private static List<Part> bill(Connection connection, int assembly)
      throws SQLException, RefusedException {
    List<Part> bill = new ArrayList<>();
    try (PreparedStatement query =
        connection.prepareStatement(
            "SELECT component, quantity FROM bills WHERE assembly = ? ORDER BY component")) {
      query.setInt(1, assembly);
      try (ResultSet row = query.executeQuery()) {
        while (row.next()) {
          bill.add(new Part(row.getInt(1), row.getInt(2)));
        }
      }
    }
    if (bill.isEmpty()) {
      throw new RefusedException(Status.NOT_FOUND, "there is no assembly " + assembly);
    }
    return bill;
  }

  private static Component lock(Connection connection, int component) throws SQLException {
    try (PreparedStatement query =
        connection.prepareStatement(
            "SELECT on_hand, on_order FROM components WHERE component = ? FOR UPDATE")) {
      query.setInt(1, component);
      try (ResultSet row = query.executeQuery()) {
        if (!row.next()) {
          throw new SQLException("component " + component + " is missing");
        }
        return new Component(component, row.getLong(1), row.getLong(2));
      }
    }
  }

  private static Purchase lockPurchase(Connection connection, long id)
      throws SQLException, RefusedException {
    try (PreparedStatement query =
        connection.prepareStatement(
            "SELECT component, quantity, is_delivered FROM purchases WHERE id = ? FOR UPDATE")) {
      query.setLong(1, id);
      try (ResultSet row = query.executeQuery()) {
        if (!row.next()) {
          throw new RefusedException(Status.NOT_FOUND, "there is no purchase " + id);
        }
        if (row.getBoolean(3)) {
          throw new RefusedException(Status.CONFLICT, "purchase " + id + " is delivered already");
        }
        return new Purchase(id, row.getInt(1), row.getInt(2));
      }
    }
  }

  /** Refuses a transaction that needs more of a component than is on hand. */
  void check(Component component, int quantity) throws RefusedException {
    if (component.onHand() < quantity) {
      throw new RefusedException(
          Status.CONFLICT,
          "component %d is short: %d on hand, %d needed"
              .formatted(component.number(), component.onHand(), quantity));
    }
  }

  /** Takes pieces of a component that are on hand, and purchases others if few remain. */
  void take(Connection connection, Component component, int quantity) throws SQLException {
    boolean isLow = component.onHand() - quantity < Purchase.QUANTITY && component.onOrder() == 0;
    int more = isLow ? Purchase.QUANTITY : 0;
    subtract(connection, component.number(), quantity, more);
    if (isLow) {
      Sql.update(
          connection,
          "INSERT INTO purchases VALUES (?, ?, ?, FALSE)",
          purchaseIds.next(connection),
          component.number(),
          more);
    }
  }

  /**
   * Stores that pieces of a component are taken.
   *
   * @param more pieces that are now on order as well
   */
  static void subtract(Connection connection, int component, int quantity, int more)
      throws SQLException {
    Sql.update(
        connection,
        "UPDATE components SET on_hand = on_hand - ?, consumed = consumed + ?,"
            + " on_order = on_order + ? WHERE component = ?",
        quantity,
        quantity,
        more,
        component);
  }

  /** Delivers a purchase. */
  Purchase deliver(Connection connection, long id) throws SQLException, RefusedException {
    Purchase purchase = lockPurchase(connection, id);
    Sql.update(connection, "UPDATE purchases SET is_delivered = TRUE WHERE id = ?", id);
    Sql.update(
        connection,
        "UPDATE components SET on_hand = on_hand + ?, received = received + ?, on_order = 0"
            + " WHERE component = ?",
        purchase.quantity(),
        purchase.quantity(),
        purchase.component());
    return purchase;
  }
}
