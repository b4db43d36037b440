package org.klatch.shop.database;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.klatch.shop.Account;
import org.klatch.shop.Holding;
import org.klatch.shop.Population;
import org.klatch.shop.Profile;
import org.klatch.shop.RefusedException;

/**
 * A brokerage with one fault, which every 20th operation of its kind has. The system property
 * {@code klatch.plant} names it. It is not part of any jar.
 */
public final class PlantedApplication extends TradeApplication {
  static final String PROPERTY = "klatch.plant";
  private static final int PERIOD = 20;

  private final String plant;
  private final AtomicInteger count = new AtomicInteger();

  /** For the service loader. */
  public PlantedApplication() {
    this(System.getProperty(PROPERTY, ""));
  }

  PlantedApplication(String plant) {
    this.plant = plant;
  }

  @Override
  JdbcBrokerage brokerage(Database database, Population population) {
    return new PlantedBrokerage(database, population);
  }

  private static void waitForever() {
    try {
      new CountDownLatch(1).await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private boolean isPlanted(String name) {
    return plant.equals(name) && count.incrementAndGet() % PERIOD == 0;
  }

  private final class PlantedBrokerage extends JdbcBrokerage {
    private volatile List<Holding> earlier = List.of();

    PlantedBrokerage(Database database, Population population) {
      super(database, population);
    }

    @Override
    Orders orders(Database database, Population population) {
      return new PlantedOrders(database, population);
    }

    @Override
    public List<Holding> holdings(long user) throws RefusedException {
      List<Holding> now = super.holdings(user);
      List<Holding> shown = isPlanted("stale-portfolio") ? earlier : now;
      earlier = now;
      return shown;
    }

    @Override
    public Profile profile(long user) throws RefusedException {
      if (isPlanted("no-reply")) {
        waitForever();
      }
      return super.profile(user);
    }

    @Override
    public Account account(long user) throws RefusedException {
      Account account = super.account(user);
      long more = isPlanted("wrong-balance") ? 1 : 0;
      return new Account(
          user,
          account.balance() + more,
          account.openBalance(),
          account.logins(),
          account.logouts());
    }
  }

  private final class PlantedOrders extends Orders {
    PlantedOrders(Database database, Population population) {
      super(database, population);
    }

    /** Sells the same holding twice, as two sessions could that do not lock it. */
    @Override
    void deleteHolding(Connection connection, long user, Holding holding)
        throws SQLException, RefusedException {
      if (isPlanted("double-sale")) {
        sell(connection, user, holding.id());
        return;
      }
      super.deleteHolding(connection, user, holding);
    }

    @Override
    void setBalance(Connection connection, long user, long balance) throws SQLException {
      super.setBalance(connection, user, isPlanted("no-fee") ? balance + 2_495 : balance);
    }

    @Override
    boolean commits() {
      return !isPlanted("lost-order");
    }

    @Override
    int next(int symbol, int changes, int price) {
      return isPlanted("price") ? price + 1 : super.next(symbol, changes, price);
    }
  }
}
