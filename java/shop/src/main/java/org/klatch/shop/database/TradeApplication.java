package org.klatch.shop.database;

import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import org.klatch.exchange.web.Responder;
import org.klatch.shop.Population;
import org.klatch.shop.TradeSite;
import org.klatch.web.ApplicationOptions;

/** Workload trade as an application. */
public class TradeApplication extends DatabaseApplication<Population> {
  @Override
  public String workload() {
    return "trade";
  }

  @Override
  protected Population population(ApplicationOptions options) {
    return new Population(options.seed(), options.users(), options.quotes());
  }

  @Override
  protected String optionsOfPopulation() {
    return "--users, --quotes and --seed";
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
  protected Responder site(ApplicationOptions options, Database database, Population population)
      throws IOException {
    return new TradeSite(brokerage(database, population), population.quotes());
  }

  /** The brokerage on a database that is loaded. */
  JdbcBrokerage brokerage(Database database, Population population) {
    return new JdbcBrokerage(database, population);
  }

  @Override
  protected String audit(Connection connection, Population population) throws SQLException {
    return new Audit(population).run(connection);
  }
}
