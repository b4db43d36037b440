package org.klatch.shop.database;

import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import org.klatch.exchange.web.Responder;
import org.klatch.web.Application;
import org.klatch.web.ApplicationOptions;

/**
 * An application whose database is loaded with a population that is a function of the options.
 *
 * @param <P> the population; equal ones have the same contents
 */
public abstract class DatabaseApplication<P extends Record> implements Application {
  /** The population of these options. */
  protected abstract P population(ApplicationOptions options);

  /** The options of {@link #population}, as the text of a message. */
  protected abstract String optionsOfPopulation();

  /** Returns the population of the tables; null if there are no tables. */
  protected abstract P loaded(Connection connection) throws SQLException;

  /** Creates the tables and loads a population, in one transaction. */
  protected abstract void load(Connection connection, P population) throws SQLException;

  /**
   * Opens the site on a database that is loaded.
   *
   * @throws IOException if it cannot use this database
   */
  protected abstract Responder site(ApplicationOptions options, Database database, P population)
      throws IOException;

  /** Audits a database. Returns one JSON object. */
  protected abstract String audit(Connection connection, P population) throws SQLException;

  @Override
  public final Responder open(ApplicationOptions options) throws IOException {
    Database database = new Database(options);
    P population = population(options);
    try (Connection connection = database.connection()) {
      P loaded = loaded(connection);
      if (loaded == null) {
        if (!options.loads()) {
          throw new IOException(
              "the database " + options.database() + " has no tables; load them with --load");
        }
        connection.setAutoCommit(false);
        load(connection, population);
        connection.setAutoCommit(true);
        loaded = loaded(connection);
      }
      if (!population.equals(loaded)) {
        throw new IOException(
            "the database "
                + options.database()
                + " has another population: "
                + loaded
                + "; use its "
                + optionsOfPopulation()
                + ", or another database");
      }
    } catch (SQLException e) {
      throw failed(options, e);
    }
    return site(options, database, population);
  }

  @Override
  public final String audit(ApplicationOptions options) throws IOException {
    try (Database database = new Database(existing(options));
        Connection connection = database.connection()) {
      connection.setAutoCommit(false); // PostgreSQL then sends a part of the rows at a time
      return audit(connection, population(options));
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
        options.rate(),
        options.seed(),
        1,
        true,
        false);
  }

  private static IOException failed(ApplicationOptions options, SQLException e) {
    return new IOException(
        "the database " + options.database() + " failed: " + Repeats.firstLine(e.getMessage()), e);
  }
}
