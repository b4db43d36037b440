package org.klatch.shop.database;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import org.klatch.shop.Holding;
import org.klatch.shop.Order;
import org.klatch.shop.Population;
import org.klatch.shop.Profile;

/** Looks for broken rules in a database that nobody uses any more. */
final class Audit {
  private static final int ROWS_AT_ONCE = 10_000;

  private final Population population;
  private final BrokenRules broken = new BrokenRules();
  private final Map<Long, AuditedUser> users = new TreeMap<>();

  /** The open holdings that were bought, with their users, until they are sold or still held. */
  private final Map<Long, Bought> bought = new HashMap<>();

  private final long[] volumes;
  private final int[] changes;
  private long orders;

  private record Bought(long user, Holding holding) {}

  Audit(Population population) {
    this.population = population;
    volumes = new long[population.quotes()];
    changes = new int[population.quotes()];
  }

  /** Reads all tables. Returns what it finds, as one JSON object. */
  String run(Connection connection) throws SQLException {
    long startNs = System.nanoTime();
    try (Statement statement = connection.createStatement()) {
      statement.setFetchSize(ROWS_AT_ONCE);
      accounts(statement);
      buys(statement);
      sells(statement);
      holdings(statement);
      quotes(statement);
    }
    users.values().forEach(user -> user.check(broken));
    population();
    double seconds = (System.nanoTime() - startNs) / 1e9;
    return new AuditJson().json(users, broken, orders, seconds);
  }

  private void accounts(Statement statement) throws SQLException {
    String sql =
        "SELECT a.user_id, a.balance, a.open_balance, a.logins, a.logouts, p.name, p.address,"
            + " p.email, p.card FROM accounts a LEFT JOIN profiles p ON p.user_id = a.user_id";
    try (ResultSet row = statement.executeQuery(sql)) {
      while (row.next()) {
        long user = row.getLong(1);
        String name = row.getString(6);
        long revision = -1;
        if (name != null) {
          Profile profile = new Profile(name, row.getString(7), row.getString(8), row.getString(9));
          revision = profile.revision(user);
        }
        users.put(
            user,
            new AuditedUser(
                user, row.getLong(2), row.getLong(3), row.getInt(4), row.getInt(5), revision));
      }
    }
  }

  private static String ordersWhere(boolean isSell) {
    return "SELECT id, is_sell, symbol, quantity, price, changes, fee, holding, user_id, is_closed"
        + " FROM orders WHERE is_sell = "
        + isSell;
  }

  private void buys(Statement statement) throws SQLException {
    try (ResultSet row = statement.executeQuery(ordersWhere(false))) {
      while (row.next()) {
        Order order = JdbcBrokerage.order(row);
        long user = row.getLong(9);
        order(order, user, row.getBoolean(10));
        Holding holding =
            new Holding(order.holding(), order.symbol(), order.quantity(), order.price());
        if (bought.put(order.holding(), new Bought(user, holding)) != null) {
          broken.add("shares", "two orders bought holding " + order.holding());
        }
      }
    }
  }

  private void sells(Statement statement) throws SQLException {
    try (ResultSet row = statement.executeQuery(ordersWhere(true))) {
      while (row.next()) {
        Order order = JdbcBrokerage.order(row);
        long user = row.getLong(9);
        order(order, user, row.getBoolean(10));
        String sold =
            "order " + order.id() + " of user " + user + " sold holding " + order.holding();
        Bought from = bought.remove(order.holding());
        if (from == null) {
          broken.add("shares", sold + ", which was never bought or was sold already");
        } else if (from.user() != user
            || from.holding().symbol() != order.symbol()
            || from.holding().quantity() != order.quantity()) {
          broken.add("shares", sold + ", which was bought with other shares or by another user");
        }
      }
    }
  }

  /** What is the same for all orders. */
  private void order(Order order, long user, boolean isClosed) {
    orders++;
    String name = "order " + order.id() + " of user " + user;
    if (!isClosed) {
      broken.add("orders", name + " is open");
    }
    if (order.fee() != Order.FEE) {
      broken.add("fees", name + " has a fee of " + order.fee() + " cents");
    }
    boolean isKnown = order.symbol() >= 0 && order.symbol() < population.quotes();
    int price = isKnown ? price(order.symbol(), order.changes()) : -1;
    if (price != order.price()) {
      broken.add("prices", name + " has the price " + order.price() + " instead of " + price);
    }
    if (isKnown) {
      volumes[order.symbol()] += order.quantity();
      if (!isFirst(order.id())) {
        changes[order.symbol()]++;
      }
    }
    AuditedUser owner = users.get(user);
    if (owner == null) {
      broken.add("population", name + " has no account");
    } else {
      owner.add(order);
    }
  }

  private boolean isFirst(long id) {
    return id < (long) population.users() * Population.HOLDINGS_MAX;
  }

  private final Map<Integer, int[]> chains = new HashMap<>();

  /** The price after so many changes. */
  private int price(int symbol, int count) {
    if (count < 0 || count > 10_000_000) {
      return -1;
    }
    int[] chain = chains.get(symbol);
    if (chain == null || chain.length <= count) {
      int[] longer = new int[Math.max(16, 2 * count + 1)];
      longer[0] = population.open(symbol);
      for (int i = 1; i < longer.length; i++) {
        longer[i] = population.next(symbol, i - 1, longer[i - 1]);
      }
      chains.put(symbol, longer);
      chain = longer;
    }
    return chain[count];
  }

  private void holdings(Statement statement) throws SQLException {
    try (ResultSet row =
        statement.executeQuery("SELECT id, symbol, quantity, paid, user_id FROM holdings")) {
      while (row.next()) {
        Holding holding = new Holding(row.getLong(1), row.getInt(2), row.getInt(3), row.getInt(4));
        long user = row.getLong(5);
        if (!new Bought(user, holding).equals(bought.remove(holding.id()))) {
          broken.add("shares", "holding " + holding.id() + " of user " + user + " has no such buy");
        }
        AuditedUser owner = users.get(user);
        if (owner == null) {
          broken.add("population", "holding " + holding.id() + " has no account");
        } else {
          owner.add(holding);
        }
      }
    }
    for (Bought lost : bought.values()) {
      broken.add(
          "shares",
          "holding "
              + lost.holding().id()
              + " of user "
              + lost.user()
              + " is neither held nor sold");
    }
  }

  private void quotes(Statement statement) throws SQLException {
    int count = 0;
    try (ResultSet row =
        statement.executeQuery("SELECT symbol, price, opened, changes, volume FROM quotes")) {
      while (row.next()) {
        count++;
        int symbol = row.getInt(1);
        String name = "quote " + symbol;
        if (symbol < 0 || symbol >= population.quotes()) {
          broken.add("population", name + " is not of the population");
          continue;
        }
        if (row.getInt(2) != price(symbol, row.getInt(4))) {
          broken.add("prices", name + " has the price " + row.getInt(2));
        }
        if (row.getInt(3) != population.open(symbol)) {
          broken.add("prices", name + " has the first price " + row.getInt(3));
        }
        if (row.getInt(4) != changes[symbol] || row.getLong(5) != volumes[symbol]) {
          broken.add(
              "volumes",
              "%s has %d changes and a volume of %d, and its orders give %d and %d"
                  .formatted(
                      name, row.getInt(4), row.getLong(5), changes[symbol], volumes[symbol]));
        }
      }
    }
    if (count != population.quotes()) {
      broken.add("population", count + " quotes instead of " + population.quotes());
    }
  }

  private void population() {
    for (int user = 0; user < population.users(); user++) {
      AuditedUser stored = users.get((long) user);
      if (stored == null) {
        broken.add("population", "user " + user + " is missing");
      } else if (stored.openBalance() != population.user(user).openBalance()) {
        broken.add("population", "user " + user + " has the open balance " + stored.openBalance());
      }
    }
  }
}
