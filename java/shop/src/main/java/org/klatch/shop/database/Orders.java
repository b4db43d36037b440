package org.klatch.shop.database;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import org.klatch.exchange.web.Status;
import org.klatch.shop.Brokerage.Trade;
import org.klatch.shop.Holding;
import org.klatch.shop.Order;
import org.klatch.shop.Population;
import org.klatch.shop.RefusedException;

/**
 * The transactions of orders: the order itself in one, and the new price of its quote in a second
 * one. The reply follows both.
 */
class Orders {
  private final Database database;
  private final Population population;
  private final Ids orderIds;
  private final Ids holdingIds;

  private record Price(int cents, int changes) {}

  Orders(Database database, Population population) {
    this.database = database;
    this.population = population;
    orderIds = new Ids(database.nextValue("order_ids"));
    holdingIds = new Ids(database.nextValue("holding_ids"));
  }

  /** Buys shares at the price of their quote. */
  Trade buy(long user, int symbol, int quantity) throws RefusedException {
    Trade trade =
        database.transaction(connection -> buy(connection, user, symbol, quantity), this::commits);
    changePrice(symbol, quantity);
    return trade;
  }

  private Trade buy(Connection connection, long user, int symbol, int quantity)
      throws SQLException, RefusedException {
    long balance = lockAccount(connection, user);
    Price price = price(connection, symbol, "");
    long holding = holdingIds.next(connection);
    Order order = order(connection, false, symbol, quantity, price, holding);
    open(connection, user, order);
    long after = balance + order.gain();
    setBalance(connection, user, after);
    insertHolding(connection, user, new Holding(holding, symbol, quantity, price.cents()));
    close(connection, order);
    return new Trade(order, after);
  }

  /** Sells a holding at the price of its quote. */
  Trade sell(long user, long holding) throws RefusedException {
    Trade trade =
        database.transaction(connection -> sell(connection, user, holding), this::commits);
    changePrice(trade.order().symbol(), trade.order().quantity());
    return trade;
  }

  /** The first transaction of a sale. */
  Trade sell(Connection connection, long user, long holding) throws SQLException, RefusedException {
    long balance = lockAccount(connection, user);
    Holding held = lockHolding(connection, user, holding);
    Price price = price(connection, held.symbol(), "");
    Order order = order(connection, true, held.symbol(), held.quantity(), price, holding);
    open(connection, user, order);
    long after = balance + order.gain();
    setBalance(connection, user, after);
    deleteHolding(connection, user, held);
    close(connection, order);
    return new Trade(order, after);
  }

  private Order order(
      Connection connection, boolean isSell, int symbol, int quantity, Price price, long holding)
      throws SQLException {
    long id = orderIds.next(connection);
    return new Order(
        id, isSell, symbol, quantity, price.cents(), price.changes(), Order.FEE, holding);
  }

  private static long lockAccount(Connection connection, long user)
      throws SQLException, RefusedException {
    try (PreparedStatement query =
        connection.prepareStatement("SELECT balance FROM accounts WHERE user_id = ? FOR UPDATE")) {
      query.setLong(1, user);
      try (ResultSet row = query.executeQuery()) {
        if (!row.next()) {
          throw new RefusedException(Status.UNAUTHORIZED, "user " + user + " is unknown");
        }
        return row.getLong(1);
      }
    }
  }

  private static Price price(Connection connection, int symbol, String lock)
      throws SQLException, RefusedException {
    try (PreparedStatement query =
        connection.prepareStatement("SELECT price, changes FROM quotes WHERE symbol = ?" + lock)) {
      query.setInt(1, symbol);
      try (ResultSet row = query.executeQuery()) {
        if (!row.next()) {
          throw new RefusedException(Status.NOT_FOUND, "there is no quote " + symbol);
        }
        return new Price(row.getInt(1), row.getInt(2));
      }
    }
  }

  private static void open(Connection connection, long user, Order order) throws SQLException {
    try (PreparedStatement insert =
        connection.prepareStatement(
            "INSERT INTO orders VALUES (?, ?, ?, FALSE, ?, ?, ?, ?, ?, NULL)")) {
      insert.setLong(1, order.id());
      insert.setLong(2, user);
      insert.setBoolean(3, order.isSell());
      insert.setInt(4, order.symbol());
      insert.setInt(5, order.quantity());
      insert.setInt(6, order.price());
      insert.setInt(7, order.changes());
      insert.setLong(8, order.fee());
      insert.executeUpdate();
    }
  }

  private static void close(Connection connection, Order order) throws SQLException {
    try (PreparedStatement update =
        connection.prepareStatement(
            "UPDATE orders SET is_closed = TRUE, holding = ? WHERE id = ?")) {
      update.setLong(1, order.holding());
      update.setLong(2, order.id());
      update.executeUpdate();
    }
  }

  /** Stores the balance after an order. */
  void setBalance(Connection connection, long user, long balance) throws SQLException {
    try (PreparedStatement update =
        connection.prepareStatement("UPDATE accounts SET balance = ? WHERE user_id = ?")) {
      update.setLong(1, balance);
      update.setLong(2, user);
      update.executeUpdate();
    }
  }

  private static void insertHolding(Connection connection, long user, Holding holding)
      throws SQLException {
    try (PreparedStatement insert =
        connection.prepareStatement("INSERT INTO holdings VALUES (?, ?, ?, ?, ?)")) {
      insert.setLong(1, holding.id());
      insert.setLong(2, user);
      insert.setInt(3, holding.symbol());
      insert.setInt(4, holding.quantity());
      insert.setInt(5, holding.paid());
      insert.executeUpdate();
    }
  }

  private static Holding lockHolding(Connection connection, long user, long holding)
      throws SQLException, RefusedException {
    try (PreparedStatement query =
        connection.prepareStatement(
            "SELECT id, symbol, quantity, paid FROM holdings WHERE id = ? AND user_id = ?"
                + " FOR UPDATE")) {
      query.setLong(1, holding);
      query.setLong(2, user);
      try (ResultSet row = query.executeQuery()) {
        if (!row.next()) {
          throw new RefusedException(
              Status.NOT_FOUND, "user " + user + " has no holding " + holding);
        }
        return new Holding(row.getLong(1), row.getInt(2), row.getInt(3), row.getInt(4));
      }
    }
  }

  /** Deletes a holding that was sold. */
  void deleteHolding(Connection connection, long user, Holding holding)
      throws SQLException, RefusedException {
    try (PreparedStatement delete =
        connection.prepareStatement("DELETE FROM holdings WHERE id = ?")) {
      delete.setLong(1, holding.id());
      delete.executeUpdate();
    }
  }

  /** The second transaction: a new price, and the shares as volume. */
  private void changePrice(int symbol, int quantity) throws RefusedException {
    database.transaction(
        connection -> {
          Price old = price(connection, symbol, " FOR UPDATE");
          try (PreparedStatement update =
              connection.prepareStatement(
                  "UPDATE quotes SET price = ?, changes = ?, volume = volume + ?"
                      + " WHERE symbol = ?")) {
            update.setInt(1, next(symbol, old.changes(), old.cents()));
            update.setInt(2, old.changes() + 1);
            update.setInt(3, quantity);
            update.setInt(4, symbol);
            update.executeUpdate();
          }
          return null;
        });
  }

  /** Whether an order is stored, which is so. */
  boolean commits() {
    return true;
  }

  /** The price after a change. */
  int next(int symbol, int changes, int price) {
    return population.next(symbol, changes, price);
  }
}
