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
import org.klatch.shop.orders.WorkOrder;

/** The transactions of the factory and of suppliers. */
class Factory {
  private final Ids workOrderIds;
  private final Ids purchaseIds;

  /**
   * The stock of a component that is locked.
   *
   * @param onHand pieces
   * @param onOrder pieces
   */
  record Stock(int component, long onHand, long onOrder) {}

  /**
   * Takes ids from the database.
   *
   * @param workOrderIds ids of work orders, which dealers and factory share
   */
  Factory(Database database, Ids workOrderIds) {
    this.workOrderIds = workOrderIds;
    purchaseIds = new Ids(database.nextValue("purchase_ids"));
  }

  /** Creates a work order with its components. */
  WorkOrder plan(Connection connection, int assembly, int quantity)
      throws SQLException, RefusedException {
    takeComponents(connection, assembly, quantity);
    WorkOrder workOrder = new WorkOrder(workOrderIds.next(connection), 1, assembly, quantity);
    Sql.update(
        connection,
        "INSERT INTO work_orders VALUES (?, NULL, NULL, ?, ?, ?)",
        workOrder.id(),
        assembly,
        quantity,
        workOrder.state());
    return workOrder;
  }

  /** Takes the components of a work order of a large order. */
  WorkOrder schedule(Connection connection, long id) throws SQLException, RefusedException {
    WorkOrder workOrder = lock(connection, id, 0);
    takeComponents(connection, workOrder.assembly(), workOrder.quantity());
    return setState(connection, workOrder, 1);
  }

  /** Takes a work order to its next state. */
  WorkOrder advance(Connection connection, long id, int state)
      throws SQLException, RefusedException {
    WorkOrder workOrder = setState(connection, lock(connection, id, state - 1), state);
    if (state == WorkOrder.COMPLETE) {
      addMade(connection, workOrder.assembly(), workOrder.quantity());
    }
    return workOrder;
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

  private static WorkOrder lock(Connection connection, long id, int state)
      throws SQLException, RefusedException {
    try (PreparedStatement query =
        connection.prepareStatement(
            "SELECT state, assembly, quantity FROM work_orders WHERE id = ? FOR UPDATE")) {
      query.setLong(1, id);
      try (ResultSet row = query.executeQuery()) {
        if (!row.next()) {
          throw new RefusedException(Status.NOT_FOUND, "there is no work order " + id);
        }
        if (row.getInt(1) != state) {
          throw new RefusedException(
              Status.CONFLICT,
              "work order " + id + " is in state " + row.getInt(1) + " instead of " + state);
        }
        return new WorkOrder(id, state, row.getInt(2), row.getInt(3));
      }
    }
  }

  private static WorkOrder setState(Connection connection, WorkOrder workOrder, int state)
      throws SQLException {
    Sql.update(connection, "UPDATE work_orders SET state = ? WHERE id = ?", state, workOrder.id());
    return new WorkOrder(workOrder.id(), state, workOrder.assembly(), workOrder.quantity());
  }

  /** Takes all components of some pieces of an assembly, or none. */
  private void takeComponents(Connection connection, int assembly, int quantity)
      throws SQLException, RefusedException {
    List<Part> bill = bill(connection, assembly);
    List<Stock> stocks = new ArrayList<>(bill.size());
    for (Part part : bill) {
      Stock stock = lockComponent(connection, part.component());
      check(stock, part.quantity() * quantity);
      stocks.add(stock);
    }
    for (int i = 0; i < stocks.size(); i++) {
      take(connection, stocks.get(i), bill.get(i).quantity() * quantity);
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

  private static Stock lockComponent(Connection connection, int component) throws SQLException {
    try (PreparedStatement query =
        connection.prepareStatement(
            "SELECT on_hand, on_order FROM components WHERE component = ? FOR UPDATE")) {
      query.setInt(1, component);
      try (ResultSet row = query.executeQuery()) {
        if (!row.next()) {
          throw new SQLException("component " + component + " is missing");
        }
        return new Stock(component, row.getLong(1), row.getLong(2));
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
  void check(Stock stock, int quantity) throws RefusedException {
    if (stock.onHand() < quantity) {
      throw new RefusedException(
          Status.CONFLICT,
          "component %d is short: %d on hand, %d needed"
              .formatted(stock.component(), stock.onHand(), quantity));
    }
  }

  /** Takes pieces of a component that are on hand, and purchases others if few remain. */
  void take(Connection connection, Stock stock, int quantity) throws SQLException {
    boolean isLow = stock.onHand() - quantity < Purchase.QUANTITY && stock.onOrder() == 0;
    int more = isLow ? Purchase.QUANTITY : 0;
    take(connection, stock.component(), quantity, more);
    if (isLow) {
      Sql.update(
          connection,
          "INSERT INTO purchases VALUES (?, ?, ?, FALSE)",
          purchaseIds.next(connection),
          stock.component(),
          more);
    }
  }

  /**
   * Stores that pieces of a component are taken.
   *
   * @param more pieces that are now on order as well
   */
  static void take(Connection connection, int component, int quantity, int more)
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

  /** Adds pieces to what was made of an assembly. */
  void addMade(Connection connection, int assembly, int quantity) throws SQLException {
    Sql.update(
        connection, "UPDATE assemblies SET made = made + ? WHERE assembly = ?", quantity, assembly);
  }
}
