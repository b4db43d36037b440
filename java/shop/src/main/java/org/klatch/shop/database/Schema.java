package org.klatch.shop.database;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import org.klatch.shop.Holding;
import org.klatch.shop.Order;
import org.klatch.shop.Population;
import org.klatch.shop.Profile;

/** The tables, and their first contents. */
public final class Schema {
  static final String PASSWORD = "xxx";

  private static final int BATCH = 1_000;

  private static final List<String> TABLES =
      List.of(
          "CREATE TABLE population (seed BIGINT NOT NULL, users INT NOT NULL, quotes INT NOT NULL)",
          "CREATE TABLE accounts (user_id BIGINT PRIMARY KEY, balance BIGINT NOT NULL,"
              + " open_balance BIGINT NOT NULL, logins INT NOT NULL, logouts INT NOT NULL)",
          "CREATE TABLE profiles (user_id BIGINT PRIMARY KEY, password VARCHAR(100) NOT NULL,"
              + " name VARCHAR(100) NOT NULL, address VARCHAR(100) NOT NULL,"
              + " email VARCHAR(100) NOT NULL, card VARCHAR(100) NOT NULL)",
          "CREATE TABLE quotes (symbol INT PRIMARY KEY, price INT NOT NULL, opened INT NOT NULL,"
              + " changes INT NOT NULL, volume BIGINT NOT NULL)",
          "CREATE TABLE holdings (id BIGINT PRIMARY KEY, user_id BIGINT NOT NULL,"
              + " symbol INT NOT NULL, quantity INT NOT NULL, paid INT NOT NULL)",
          "CREATE TABLE orders (id BIGINT PRIMARY KEY, user_id BIGINT NOT NULL,"
              + " is_sell BOOLEAN NOT NULL, is_closed BOOLEAN NOT NULL, symbol INT NOT NULL,"
              + " quantity INT NOT NULL, price INT NOT NULL, changes INT NOT NULL,"
              + " fee BIGINT NOT NULL, holding BIGINT)");

  /** They are made after the load, which is faster. */
  private static final List<String> INDEXES =
      List.of(
          "CREATE INDEX holdings_of_user ON holdings (user_id, id)",
          "CREATE INDEX orders_of_user ON orders (user_id, id)",
          "CREATE INDEX orders_of_holding ON orders (holding)");

  private Schema() {}

  /** The population that was loaded; null if there are no tables. */
  public static Population loaded(Connection connection) throws SQLException {
    if (!Sql.hasTable(connection, "population")) {
      return null;
    }
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery("SELECT seed, users, quotes FROM population")) {
      return row.next() ? new Population(row.getLong(1), row.getInt(2), row.getInt(3)) : null;
    }
  }

  /** Makes the tables and loads a population, in one transaction. */
  public static void load(Connection connection, Population population) throws SQLException {
    Sql.execute(connection, TABLES);
    long firstId = (long) population.users() * Population.HOLDINGS_MAX;
    Sql.execute(
        connection,
        List.of(Ids.sequence("order_ids", firstId), Ids.sequence("holding_ids", firstId)));
    long[] volumes = new long[population.quotes()];
    users(connection, population, volumes);
    quotes(connection, population, volumes);
    try (PreparedStatement insert =
        connection.prepareStatement("INSERT INTO population VALUES (?, ?, ?)")) {
      Sql.set(insert, population.seed(), population.users(), population.quotes());
      insert.executeUpdate();
    }
    Sql.execute(connection, INDEXES);
    connection.commit();
  }

  private static void users(Connection connection, Population population, long[] volumes)
      throws SQLException {
    try (PreparedStatement accounts =
            connection.prepareStatement("INSERT INTO accounts VALUES (?, ?, ?, 0, 0)");
        PreparedStatement profiles =
            connection.prepareStatement("INSERT INTO profiles VALUES (?, ?, ?, ?, ?, ?)");
        PreparedStatement holdings =
            connection.prepareStatement("INSERT INTO holdings VALUES (?, ?, ?, ?, ?)");
        PreparedStatement orders =
            connection.prepareStatement(
                "INSERT INTO orders VALUES (?, ?, FALSE, TRUE, ?, ?, ?, 0, ?, ?)")) {
      for (int user = 0; user < population.users(); user++) {
        Population.FirstUser first = population.user(user);
        Sql.add(accounts, user, first.balance(), first.openBalance());
        Profile profile = Profile.of(user, 0);
        Sql.add(
            profiles,
            user,
            PASSWORD,
            profile.name(),
            profile.address(),
            profile.email(),
            profile.card());
        for (Holding one : first.holdings()) {
          Sql.add(holdings, one.id(), user, one.symbol(), one.quantity(), one.paid());
          Sql.add(
              orders,
              one.id(),
              user,
              one.symbol(),
              one.quantity(),
              one.paid(),
              Order.FEE,
              one.id());
          volumes[one.symbol()] += one.quantity();
        }
        if ((user + 1) % BATCH == 0 || user + 1 == population.users()) {
          Sql.flush(accounts, profiles, holdings, orders);
        }
      }
    }
  }

  private static void quotes(Connection connection, Population population, long[] volumes)
      throws SQLException {
    try (PreparedStatement quotes =
        connection.prepareStatement("INSERT INTO quotes VALUES (?, ?, ?, 0, ?)")) {
      for (int symbol = 0; symbol < population.quotes(); symbol++) {
        int open = population.open(symbol);
        Sql.add(quotes, symbol, open, open, volumes[symbol]);
      }
      quotes.executeBatch();
    }
  }
}
