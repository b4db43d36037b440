package org.klatch.shop.orders.database;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.klatch.exchange.web.Status;
import org.klatch.shop.RefusedException;
import org.klatch.shop.database.Database;
import org.klatch.shop.database.Ids;
import org.klatch.shop.database.Sql;
import org.klatch.shop.orders.Company.Changed;
import org.klatch.shop.orders.Company.Entered;
import org.klatch.shop.orders.Item;
import org.klatch.shop.orders.Line;
import org.klatch.shop.orders.Order;

/**
 * The transactions of dealers. Each locks the customer first, so no other changes its orders
 * meanwhile.
 */
class Dealers {
  private final Ids orderIds;
  private final Ids workOrderIds;

  private record Account(int discount, long limit, long owed) {}

  /**
   * Takes ids from the database.
   *
   * @param workOrderIds ids of work orders, which dealers and factory share
   */
  Dealers(Database database, Ids workOrderIds) {
    orderIds = new Ids(database.nextValue("order_ids"));
    this.workOrderIds = workOrderIds;
  }

  /** Enters an order. */
  Entered enter(Connection connection, int customer, List<Item> items)
      throws SQLException, RefusedException {
    Account account = lock(connection, customer);
    List<Line> lines = priced(connection, items);
    long total = Line.total(lines, account.discount());
    long owed = account.owed() + total;
    if (!isWithin(owed, account.limit())) {
      return new Entered(null, total, account.owed(), List.of());
    }
    long id = orderIds.next(connection);
    Order order = new Order(id, customer, false, Line.areLarge(lines), total, lines);
    insert(connection, order);
    addOrdered(connection, quantities(lines, 1));
    List<Long> workOrders = new ArrayList<>();
    for (int i = 0; order.isLarge() && i < lines.size(); i++) {
      long workOrder = workOrderIds.next(connection);
      insertWorkOrder(connection, workOrder, order, i);
      workOrders.add(workOrder);
    }
    setOwed(connection, customer, owed);
    return new Entered(id, total, owed, workOrders);
  }

  /** Changes the quantities of an order. */
  Changed change(Connection connection, int customer, long id, List<Item> items)
      throws SQLException, RefusedException {
    Account account = lock(connection, customer);
    Order order = changeable(connection, customer, id);
    List<Line> lines = changed(order, items);
    long total = Line.total(lines, account.discount());
    long owed = account.owed() - order.total() + total;
    if (!isWithin(owed, account.limit())) {
      return new Changed(true, order.total(), account.owed());
    }
    try (PreparedStatement update =
        connection.prepareStatement(
            "UPDATE order_lines SET quantity = ? WHERE order_id = ? AND line = ?")) {
      for (int i = 0; i < lines.size(); i++) {
        Sql.add(update, lines.get(i).quantity(), id, i);
      }
      Sql.flush(update);
    }
    SortedMap<Integer, Integer> more = quantities(lines, 1);
    quantities(order.lines(), -1)
        .forEach((assembly, less) -> more.merge(assembly, less, Integer::sum));
    addOrdered(connection, more);
    Sql.update(connection, "UPDATE orders SET total = ? WHERE id = ?", total, id);
    setOwed(connection, customer, owed);
    return new Changed(false, total, owed);
  }

  /** Cancels an order. */
  Changed cancel(Connection connection, int customer, long id)
      throws SQLException, RefusedException {
    Account account = lock(connection, customer);
    Order order = changeable(connection, customer, id);
    takeBack(connection, order.lines());
    Sql.update(connection, "UPDATE orders SET is_cancelled = TRUE WHERE id = ?", id);
    long owed = account.owed() - order.total();
    setOwed(connection, customer, owed);
    return new Changed(false, order.total(), owed);
  }

  private static Account lock(Connection connection, int customer)
      throws SQLException, RefusedException {
    try (PreparedStatement query =
        connection.prepareStatement(
            "SELECT discount, credit_limit, owed FROM customers WHERE customer_id = ?"
                + " FOR UPDATE")) {
      query.setInt(1, customer);
      try (ResultSet row = query.executeQuery()) {
        if (!row.next()) {
          throw new RefusedException(Status.NOT_FOUND, "there is no customer " + customer);
        }
        return new Account(row.getInt(1), row.getLong(2), row.getLong(3));
      }
    }
  }

  private static List<Line> priced(Connection connection, List<Item> items)
      throws SQLException, RefusedException {
    List<Line> lines = new ArrayList<>(items.size());
    try (PreparedStatement query =
        connection.prepareStatement("SELECT price FROM assemblies WHERE assembly = ?")) {
      for (Item item : items) {
        query.setInt(1, item.assembly());
        try (ResultSet row = query.executeQuery()) {
          if (!row.next()) {
            throw new RefusedException(Status.NOT_FOUND, "there is no assembly " + item.assembly());
          }
          lines.add(new Line(item.assembly(), item.quantity(), row.getInt(1)));
        }
      }
    }
    return lines;
  }

  private static Order changeable(Connection connection, int customer, long id)
      throws SQLException, RefusedException {
    Order order = Queries.order(connection, customer, id);
    if (order.isLarge() || order.isCancelled()) {
      throw new RefusedException(
          Status.CONFLICT, "order " + id + (order.isLarge() ? " is large" : " is cancelled"));
    }
    return order;
  }

  /** The lines of an order with other quantities. */
  private static List<Line> changed(Order order, List<Item> items) throws RefusedException {
    List<Integer> assemblies = order.lines().stream().map(Line::assembly).toList();
    if (!items.stream().map(Item::assembly).toList().equals(assemblies)) {
      throw new RefusedException(
          Status.BAD_REQUEST, "order " + order.id() + " has other assemblies: " + assemblies);
    }
    List<Line> lines = new ArrayList<>(items.size());
    for (int i = 0; i < items.size(); i++) {
      Line old = order.lines().get(i);
      lines.add(new Line(old.assembly(), items.get(i).quantity(), old.price()));
    }
    if (Line.areLarge(lines)) {
      throw new RefusedException(Status.BAD_REQUEST, "a change cannot make an order large");
    }
    return lines;
  }

  private static void insert(Connection connection, Order order) throws SQLException {
    Sql.update(
        connection,
        "INSERT INTO orders VALUES (?, ?, FALSE, ?, ?)",
        order.id(),
        order.customer(),
        order.isLarge(),
        order.total());
    try (PreparedStatement insert =
        connection.prepareStatement("INSERT INTO order_lines VALUES (?, ?, ?, ?, ?)")) {
      for (int i = 0; i < order.lines().size(); i++) {
        Line line = order.lines().get(i);
        Sql.add(insert, order.id(), i, line.assembly(), line.quantity(), line.price());
      }
      Sql.flush(insert);
    }
  }

  /** The quantities of lines by assembly, with a sign. */
  private static SortedMap<Integer, Integer> quantities(List<Line> lines, int sign) {
    SortedMap<Integer, Integer> quantities = new TreeMap<>();
    lines.forEach(line -> quantities.merge(line.assembly(), sign * line.quantity(), Integer::sum));
    return quantities;
  }

  /** Adds to what is ordered of assemblies, in ascending order, so that no two deadlock. */
  private static void addOrdered(Connection connection, SortedMap<Integer, Integer> quantities)
      throws SQLException {
    try (PreparedStatement update =
        connection.prepareStatement(
            "UPDATE assemblies SET ordered = ordered + ? WHERE assembly = ?")) {
      for (Map.Entry<Integer, Integer> one : quantities.entrySet()) {
        if (one.getValue() != 0) {
          Sql.add(update, one.getValue(), one.getKey());
        }
      }
      Sql.flush(update);
    }
  }

  private static void setOwed(Connection connection, int customer, long owed) throws SQLException {
    Sql.update(connection, "UPDATE customers SET owed = ? WHERE customer_id = ?", owed, customer);
  }

  /** Whether a customer may owe so much. */
  boolean isWithin(long owed, long limit) {
    return owed <= limit;
  }

  /** Creates the work order of a line of a large order. */
  void insertWorkOrder(Connection connection, long id, Order order, int index) throws SQLException {
    Line line = order.lines().get(index);
    Sql.update(
        connection,
        "INSERT INTO work_orders VALUES (?, ?, ?, ?, ?, 0)",
        id,
        order.id(),
        index,
        line.assembly(),
        line.quantity());
  }

  /** Takes the quantities of a cancelled order from what is ordered. */
  void takeBack(Connection connection, List<Line> lines) throws SQLException {
    addOrdered(connection, quantities(lines, -1));
  }
}
