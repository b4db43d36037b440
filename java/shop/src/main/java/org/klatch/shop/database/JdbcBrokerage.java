package org.klatch.shop.database;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.klatch.exchange.web.Status;
import org.klatch.shop.Account;
import org.klatch.shop.Brokerage;
import org.klatch.shop.Holding;
import org.klatch.shop.Market;
import org.klatch.shop.Order;
import org.klatch.shop.Population;
import org.klatch.shop.Profile;
import org.klatch.shop.Quote;
import org.klatch.shop.RefusedException;
import org.klatch.shop.Statistics;

/** The brokerage on a database. */
class JdbcBrokerage implements Brokerage {
  private static final int MOST_MOVED = 5;
  private static final String QUOTE = "SELECT symbol, price, opened, changes, volume FROM quotes";

  private final Database database;
  private final Orders orders;
  private final MarketCache market = new MarketCache();

  JdbcBrokerage(Database database, Population population) {
    this.database = database;
    this.orders = orders(database, population);
  }

  /** The transactions of orders. */
  Orders orders(Database on, Population population) {
    return new Orders(on, population);
  }

  @Override
  public Account login(long user, String password) throws RefusedException {
    return database.transaction(
        connection -> {
          try (PreparedStatement query =
              connection.prepareStatement("SELECT password FROM profiles WHERE user_id = ?")) {
            query.setLong(1, user);
            try (ResultSet row = query.executeQuery()) {
              if (!row.next() || !row.getString(1).equals(password)) {
                throw new RefusedException(
                    Status.UNAUTHORIZED, "user " + user + " is unknown, or has another password");
              }
            }
          }
          return count(connection, user, "logins");
        });
  }

  @Override
  public Account logout(long user) throws RefusedException {
    return database.transaction(connection -> count(connection, user, "logouts"));
  }

  private static Account count(Connection connection, long user, String column)
      throws SQLException, RefusedException {
    String sql = "UPDATE accounts SET " + column + " = " + column + " + 1 WHERE user_id = ?";
    try (PreparedStatement update = connection.prepareStatement(sql)) {
      update.setLong(1, user);
      update.executeUpdate();
    }
    return account(connection, user);
  }

  @Override
  public Account register(long user, String password, long balance) throws RefusedException {
    return database.transaction(
        connection -> {
          try (PreparedStatement query =
                  connection.prepareStatement("SELECT 1 FROM accounts WHERE user_id = ?");
              PreparedStatement insert =
                  connection.prepareStatement("INSERT INTO accounts VALUES (?, ?, ?, 1, 0)");
              PreparedStatement person =
                  connection.prepareStatement("INSERT INTO profiles VALUES (?, ?, ?, ?, ?, ?)")) {
            query.setLong(1, user);
            try (ResultSet row = query.executeQuery()) {
              if (row.next()) {
                throw new RefusedException(Status.CONFLICT, "user " + user + " exists already");
              }
            }
            insert.setLong(1, user);
            insert.setLong(2, balance);
            insert.setLong(3, balance);
            insert.executeUpdate();
            Profile profile = Profile.of(user, 0);
            person.setLong(1, user);
            person.setString(2, password);
            person.setString(3, profile.name());
            person.setString(4, profile.address());
            person.setString(5, profile.email());
            person.setString(6, profile.card());
            person.executeUpdate();
          }
          return new Account(user, balance, balance, 1, 0);
        });
  }

  @Override
  public Account account(long user) throws RefusedException {
    return database.read(connection -> account(connection, user));
  }

  private static Account account(Connection connection, long user)
      throws SQLException, RefusedException {
    try (PreparedStatement query =
        connection.prepareStatement(
            "SELECT balance, open_balance, logins, logouts FROM accounts WHERE user_id = ?")) {
      query.setLong(1, user);
      try (ResultSet row = query.executeQuery()) {
        if (!row.next()) {
          throw new RefusedException(Status.UNAUTHORIZED, "user " + user + " is unknown");
        }
        return new Account(user, row.getLong(1), row.getLong(2), row.getInt(3), row.getInt(4));
      }
    }
  }

  @Override
  public Profile profile(long user) throws RefusedException {
    return database.read(connection -> profile(connection, user));
  }

  private static Profile profile(Connection connection, long user)
      throws SQLException, RefusedException {
    try (PreparedStatement query =
        connection.prepareStatement(
            "SELECT name, address, email, card FROM profiles WHERE user_id = ?")) {
      query.setLong(1, user);
      try (ResultSet row = query.executeQuery()) {
        if (!row.next()) {
          throw new RefusedException(Status.UNAUTHORIZED, "user " + user + " is unknown");
        }
        return new Profile(row.getString(1), row.getString(2), row.getString(3), row.getString(4));
      }
    }
  }

  @Override
  public Profile update(long user, String address, String email, String card)
      throws RefusedException {
    return database.transaction(
        connection -> {
          try (PreparedStatement update =
              connection.prepareStatement(
                  "UPDATE profiles SET address = ?, email = ?, card = ? WHERE user_id = ?")) {
            update.setString(1, address);
            update.setString(2, email);
            update.setString(3, card);
            update.setLong(4, user);
            update.executeUpdate();
          }
          return profile(connection, user);
        });
  }

  @Override
  public List<Order> lastOrders(long user, int most) throws RefusedException {
    return database.read(
        connection -> {
          List<Order> found = new ArrayList<>();
          try (PreparedStatement query =
              connection.prepareStatement(
                  "SELECT id, is_sell, symbol, quantity, price, changes, fee, holding FROM orders"
                      + " WHERE user_id = ? ORDER BY id DESC FETCH FIRST ? ROWS ONLY")) {
            query.setLong(1, user);
            query.setInt(2, most);
            try (ResultSet row = query.executeQuery()) {
              while (row.next()) {
                found.add(order(row));
              }
            }
          }
          return found;
        });
  }

  /** Reads id, is_sell, symbol, quantity, price, changes, fee and holding. */
  static Order order(ResultSet row) throws SQLException {
    return new Order(
        row.getLong(1),
        row.getBoolean(2),
        row.getInt(3),
        row.getInt(4),
        row.getInt(5),
        row.getInt(6),
        row.getLong(7),
        row.getLong(8));
  }

  @Override
  public List<Holding> holdings(long user) throws RefusedException {
    return database.read(
        connection -> {
          List<Holding> found = new ArrayList<>();
          try (PreparedStatement query =
              connection.prepareStatement(
                  "SELECT id, symbol, quantity, paid FROM holdings WHERE user_id = ?"
                      + " ORDER BY id")) {
            query.setLong(1, user);
            try (ResultSet row = query.executeQuery()) {
              while (row.next()) {
                found.add(new Holding(row.getLong(1), row.getInt(2), row.getInt(3), row.getInt(4)));
              }
            }
          }
          return found;
        });
  }

  @Override
  public List<Quote> quotes(List<Integer> symbols) throws RefusedException {
    return database.read(
        connection -> {
          List<Quote> found = new ArrayList<>(symbols.size());
          try (PreparedStatement query = connection.prepareStatement(QUOTE + " WHERE symbol = ?")) {
            for (int symbol : symbols) {
              query.setInt(1, symbol);
              try (ResultSet row = query.executeQuery()) {
                if (!row.next()) {
                  throw new RefusedException(Status.NOT_FOUND, "there is no quote " + symbol);
                }
                found.add(quote(row));
              }
            }
          }
          return found;
        });
  }

  @Override
  public Market market() throws RefusedException {
    return market.market(
        () ->
            database.read(
                connection -> new Market(moved(connection, "DESC"), moved(connection, "ASC"))));
  }

  private static List<Quote> moved(Connection connection, String direction) throws SQLException {
    List<Quote> found = new ArrayList<>();
    String sql = QUOTE + " ORDER BY price - opened " + direction + " FETCH FIRST ? ROWS ONLY";
    try (PreparedStatement query = connection.prepareStatement(sql)) {
      query.setInt(1, MOST_MOVED);
      try (ResultSet row = query.executeQuery()) {
        while (row.next()) {
          found.add(quote(row));
        }
      }
    }
    return found;
  }

  private static Quote quote(ResultSet row) throws SQLException {
    return new Quote(row.getInt(1), row.getInt(2), row.getInt(3), row.getInt(4), row.getLong(5));
  }

  @Override
  public Statistics statistics() {
    return database.statistics();
  }

  @Override
  public void close() {
    database.close();
  }

  @Override
  public Trade buy(long user, int symbol, int quantity) throws RefusedException {
    return orders.buy(user, symbol, quantity);
  }

  @Override
  public Trade sell(long user, long holding) throws RefusedException {
    return orders.sell(user, holding);
  }
}
