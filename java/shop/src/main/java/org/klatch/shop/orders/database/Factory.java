package org.klatch.shop.orders.database;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import org.klatch.exchange.web.Status;
import org.klatch.shop.RefusedException;
import org.klatch.shop.database.Ids;
import org.klatch.shop.database.Sql;
import org.klatch.shop.orders.WorkOrder;

/** The transactions of work orders. */
class Factory {
  private final Ids workOrderIds;
  private final Stock stock;

  /**
   * Works with the components of a stock.
   *
   * @param workOrderIds ids of work orders, which dealers and factory share
   */
  Factory(Ids workOrderIds, Stock stock) {
    this.workOrderIds = workOrderIds;
    this.stock = stock;
  }

  /** Creates a work order with its components. */
  WorkOrder plan(Connection connection, int assembly, int quantity)
      throws SQLException, RefusedException {
    stock.take(connection, assembly, quantity);
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
    stock.take(connection, workOrder.assembly(), workOrder.quantity());
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

  /** Adds pieces to what was made of an assembly. */
  void addMade(Connection connection, int assembly, int quantity) throws SQLException {
    Sql.update(
        connection, "UPDATE assemblies SET made = made + ? WHERE assembly = ?", quantity, assembly);
  }
}
