package org.klatch.shop.orders.database;

import java.util.List;
import org.klatch.shop.RefusedException;
import org.klatch.shop.Statistics;
import org.klatch.shop.database.Database;
import org.klatch.shop.orders.Company;
import org.klatch.shop.orders.Item;
import org.klatch.shop.orders.Order;
import org.klatch.shop.orders.Purchase;
import org.klatch.shop.orders.WorkOrder;

/** The company on a database. */
class JdbcCompany implements Company {
  private final Database database;
  private final Dealers dealers;
  private final Factory factory;
  private final Stock stock;

  JdbcCompany(Database database, Dealers dealers, Factory factory, Stock stock) {
    this.database = database;
    this.dealers = dealers;
    this.factory = factory;
    this.stock = stock;
  }

  @Override
  public Entered enter(int customer, List<Item> items) throws RefusedException {
    return database.transaction(
        connection -> dealers.enter(connection, customer, items), this::commits);
  }

  /** Whether an order entry is stored, which is so. */
  boolean commits() {
    return true;
  }

  @Override
  public Changed change(int customer, long order, List<Item> items) throws RefusedException {
    return database.transaction(connection -> dealers.change(connection, customer, order, items));
  }

  @Override
  public Changed cancel(int customer, long order) throws RefusedException {
    return database.transaction(connection -> dealers.cancel(connection, customer, order));
  }

  @Override
  public Order order(int customer, long order) throws RefusedException {
    return database.read(connection -> Queries.order(connection, customer, order));
  }

  @Override
  public Account customer(int customer) throws RefusedException {
    return database.read(connection -> Queries.customer(connection, customer));
  }

  @Override
  public WorkOrder plan(int assembly, int quantity) throws RefusedException {
    return database.transaction(connection -> factory.plan(connection, assembly, quantity));
  }

  @Override
  public WorkOrder schedule(long workOrder) throws RefusedException {
    return database.transaction(connection -> factory.schedule(connection, workOrder));
  }

  @Override
  public WorkOrder advance(long workOrder, int state) throws RefusedException {
    return database.transaction(connection -> factory.advance(connection, workOrder, state));
  }

  @Override
  public List<Purchase> purchases(int supplier, int of) throws RefusedException {
    return database.read(connection -> Queries.purchases(connection, supplier, of));
  }

  @Override
  public Purchase deliver(long purchase) throws RefusedException {
    return database.transaction(connection -> stock.deliver(connection, purchase));
  }

  @Override
  public Statistics statistics() {
    return database.statistics();
  }

  @Override
  public void close() {
    database.close();
  }
}
