package org.klatch.shop.database;

import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import org.klatch.exchange.web.Responder;
import org.klatch.shop.Population;
import org.klatch.shop.TradeSite;
import org.klatch.web.Application;
import org.klatch.web.ApplicationOptions;

/** Workload trade as an application. */
public class TradeApplication implements Application {
  @Override
  public String workload() {
    return "trade";
  }

  @Override
  public Responder open(ApplicationOptions options) throws IOException {
    Database database = new Database(options);
    Population population = new Population(options.seed(), options.users(), options.quotes());
    try (Connection connection = database.connection()) {
      if (!Schema.exists(connection)) {
        if (!options.loads()) {
          throw new IOException(
              "the database " + options.database() + " has no tables; load them with --load");
        }
        connection.setAutoCommit(false);
        Schema.load(connection, population);
        connection.setAutoCommit(true);
      }
      Population loaded = Schema.loaded(connection);
      if (!population.equals(loaded)) {
        throw new IOException(
            "the database "
                + options.database()
                + " has another population: "
                + loaded
                + "; use its --users, --quotes and --seed, or another database");
      }
    } catch (SQLException e) {
      throw failed(options, e);
    }
    return new TradeSite(brokerage(database, population), population.quotes());
  }

  /** The brokerage on a database that is loaded. */
  JdbcBrokerage brokerage(Database database, Population population) {
    return new JdbcBrokerage(database, population);
  }

  @Override
  public String audit(ApplicationOptions options) throws IOException {
    Population population = new Population(options.seed(), options.users(), options.quotes());
    try (Database database = new Database(existing(options));
        Connection connection = database.connection()) {
      return new Audit(population).run(connection);
    } catch (SQLException e) {
      throw failed(options, e);
    }
  }

  /** The same options, by which no database is made. */
  private static ApplicationOptions existing(ApplicationOptions options) {
    String url = options.database();
    return new ApplicationOptions(
        url.startsWith("jdbc:h2:") ? url + ";IFEXISTS=TRUE" : url,
        options.user(),
        options.password(),
        options.users(),
        options.quotes(),
        options.seed(),
        1,
        true,
        false);
  }

  private static IOException failed(ApplicationOptions options, SQLException e) {
    return new IOException(
        "the database " + options.database() + " failed: " + Database.firstLine(e.getMessage()), e);
  }
}
