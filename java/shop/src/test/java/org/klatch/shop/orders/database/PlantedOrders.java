package org.klatch.shop.orders.database;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.klatch.shop.RefusedException;
import org.klatch.shop.database.Database;
import org.klatch.shop.database.Ids;
import org.klatch.shop.orders.Item;
import org.klatch.shop.orders.Line;
import org.klatch.shop.orders.Order;

/**
 * A company with one fault. The system property {@code klatch.plant} names it. It is not part of
 * any jar.
 */
public final class PlantedOrders extends OrdersApplication {
  static final String PROPERTY = "klatch.plant";

  /** Of faults that would end a run at once if every operation had them. */
  private static final int PERIOD = 5;

  /** More than one in ten, so that the 90th percentile is late. */
  private static final int LATE_PERIOD = 4;

  private static final long LATE_MS = 2_500;

  private final String plant;
  private final AtomicInteger count = new AtomicInteger();

  /** For the service loader. */
  public PlantedOrders() {
    this(System.getProperty(PROPERTY, ""));
  }

  PlantedOrders(String plant) {
    this.plant = plant;
  }

  @Override
  JdbcCompany company(Database database, Ids workOrderIds) {
    Stock stock = new PlantedStock(database);
    return new PlantedCompany(
        database,
        new PlantedDealers(database, workOrderIds),
        new PlantedFactory(workOrderIds, stock),
        stock);
  }

  private boolean isPlanted(String name) {
    return plant.equals(name);
  }

  private boolean isPlanted(String name, int period) {
    return plant.equals(name) && count.incrementAndGet() % period == 0;
  }

  private static void waitForever() {
    try {
      new CountDownLatch(1).await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static void waitLong() {
    try {
      Thread.sleep(LATE_MS); // the fault is to be late
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private final class PlantedCompany extends JdbcCompany {
    PlantedCompany(Database database, Dealers dealers, Factory factory, Stock stock) {
      super(database, dealers, factory, stock);
    }

    @Override
    public Entered enter(int customer, List<Item> items) throws RefusedException {
      Entered entered = super.enter(customer, items);
      long more = isPlanted("wrong-total", PERIOD) ? 1 : 0;
      return new Entered(
          entered.order(), entered.total() + more, entered.owed(), entered.workOrders());
    }

    @Override
    boolean commits() {
      return !isPlanted("lost-order", PERIOD);
    }

    @Override
    public Order order(int customer, long order) throws RefusedException {
      if (isPlanted("no-reply", PERIOD)) {
        waitForever();
      }
      if (isPlanted("late", LATE_PERIOD)) {
        waitLong();
      }
      return super.order(customer, order);
    }
  }

  private final class PlantedDealers extends Dealers {
    PlantedDealers(Database database, Ids workOrderIds) {
      super(database, workOrderIds);
    }

    @Override
    boolean isWithin(long owed, long limit) {
      return isPlanted("credit") || super.isWithin(owed, limit);
    }

    @Override
    void insertWorkOrder(Connection connection, long id, Order order, int index)
        throws SQLException {
      if (index > 0 || !isPlanted("lost-large-line")) {
        super.insertWorkOrder(connection, id, order, index);
      }
    }

    @Override
    void takeBack(Connection connection, List<Line> lines) throws SQLException {
      if (!isPlanted("cancelled-kept")) {
        super.takeBack(connection, lines);
      }
    }
  }

  private final class PlantedFactory extends Factory {
    PlantedFactory(Ids workOrderIds, Stock stock) {
      super(workOrderIds, stock);
    }

    @Override
    void addMade(Connection connection, int assembly, int quantity) throws SQLException {
      super.addMade(connection, assembly, isPlanted("work-order-twice") ? 2 * quantity : quantity);
    }
  }

  private final class PlantedStock extends Stock {
    /** Factor of what is taken, which is so high that on hand falls below zero within seconds. */
    private static final int TIMES = 1_000;

    PlantedStock(Database database) {
      super(database);
    }

    @Override
    void check(Component component, int quantity) throws RefusedException {
      if (!isPlanted("below-zero")) {
        super.check(component, quantity);
      }
    }

    @Override
    void take(Connection connection, Component component, int quantity) throws SQLException {
      if (isPlanted("below-zero")) {
        subtract(connection, component.number(), quantity * TIMES, 0);
      } else {
        super.take(connection, component, quantity);
      }
    }
  }
}
