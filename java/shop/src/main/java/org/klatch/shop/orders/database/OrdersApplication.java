package org.klatch.shop.orders.database;

import java.sql.Connection;
import java.sql.SQLException;
import org.klatch.exchange.web.Responder;
import org.klatch.shop.database.Database;
import org.klatch.shop.database.DatabaseApplication;
import org.klatch.shop.database.Ids;
import org.klatch.shop.orders.OrdersSite;
import org.klatch.shop.orders.Population;
import org.klatch.web.ApplicationOptions;

/** Workload orders as an application. */
public class OrdersApplication extends DatabaseApplication<Population> {
  @Override
  public String workload() {
    return "orders";
  }

  @Override
  protected Population population(ApplicationOptions options) {
    return new Population(options.seed(), options.rate());
  }

  @Override
  protected String optionsOfPopulation() {
    return "--rate and --seed";
  }

  @Override
  protected Population loaded(Connection connection) throws SQLException {
    return Schema.loaded(connection);
  }

  @Override
  protected void load(Connection connection, Population population) throws SQLException {
    Schema.load(connection, population);
  }

  @Override
  protected Responder site(ApplicationOptions options, Database database, Population population) {
    Ids workOrderIds = new Ids(database.nextValue("work_order_ids"));
    return new OrdersSite(company(database, workOrderIds));
  }

  /** The company on a database that is loaded. */
  JdbcCompany company(Database database, Ids workOrderIds) {
    Stock stock = new Stock(database);
    return new JdbcCompany(
        database, new Dealers(database, workOrderIds), new Factory(workOrderIds, stock), stock);
  }

  @Override
  protected String audit(Connection connection, Population population) throws SQLException {
    return new Audit(population).run(connection);
  }
}
