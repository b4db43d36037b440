package org.klatch.shop.database;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import com.zaxxer.hikari.pool.HikariPool.PoolInitializationException;
import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTransactionRollbackException;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BooleanSupplier;
import org.klatch.shop.RefusedException;
import org.klatch.shop.Statistics;
import org.klatch.web.ApplicationOptions;

/** A pool of connections to the database, and transactions on them. */
public final class Database implements AutoCloseable {
  private static final int STATEMENTS = 64;

  private final HikariDataSource pool;
  private final boolean isH2;
  private final LongAdder transactions = new LongAdder();
  private final LongAdder repeated = new LongAdder();
  private final LongAdder poolWaitNs = new LongAdder();

  /**
   * What a transaction does.
   *
   * @param <T> its result
   */
  public interface Work<T> {
    /** Executes the statements on a connection, and commits nothing. */
    T run(Connection connection) throws SQLException, RefusedException;
  }

  /** Connects to the database of these options. */
  Database(ApplicationOptions options) throws IOException {
    isH2 = options.database().startsWith("jdbc:h2:");
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(url(options.database(), options.keepsStatements() ? STATEMENTS : 0));
    if (!options.user().isEmpty()) {
      config.setUsername(options.user());
    }
    if (!isH2 && !options.password().isEmpty()) {
      config.setPassword(options.password());
    }
    config.setMaximumPoolSize(options.connections());
    // All connections are there from the beginning, so that a run opens none.
    config.setMinimumIdle(options.connections());
    config.setTransactionIsolation("TRANSACTION_READ_COMMITTED");
    config.setConnectionTimeout(30_000);
    config.setMaxLifetime(0);
    config.setKeepaliveTime(0);
    try {
      pool = new HikariDataSource(config);
    } catch (PoolInitializationException e) {
      throw unusable(options, e.getCause() == null ? e : e.getCause());
    } catch (RuntimeException e) {
      throw unusable(options, e);
    }
  }

  private static IOException unusable(ApplicationOptions options, Throwable cause) {
    String text =
        "cannot use the database "
            + options.database()
            + ": "
            + Repeats.firstLine(cause.getMessage());
    return new IOException(
        text + "; check --database, its user, and the password in PGPASSWORD", cause);
  }

  /** Adds what keeps prepared statements, in the way of the driver. */
  private static String url(String url, int statements) {
    if (url.startsWith("jdbc:h2:")) {
      return url + ";QUERY_CACHE_SIZE=" + statements;
    }
    if (url.startsWith("jdbc:postgresql:")) {
      String separator = url.contains("?") ? "&" : "?";
      String threshold = "prepareThreshold=" + (statements > 0 ? 1 : 0);
      return url + separator + threshold + "&reWriteBatchedInserts=true";
    }
    return url;
  }

  /** Makes a transaction. One that fails leaves nothing behind. */
  public <T> T transaction(Work<T> work) throws RefusedException {
    return transaction(work, () -> true);
  }

  /**
   * Makes a transaction.
   *
   * @param commits whether it is stored at its end
   */
  public <T> T transaction(Work<T> work, BooleanSupplier commits) throws RefusedException {
    for (int repeats = 0; ; repeats++) {
      try (Connection connection = fromPool()) {
        T result = run(connection, work, commits);
        transactions.increment();
        return result;
      } catch (SQLException e) {
        if (repeats == Repeats.MAX || !isForOthers(e)) {
          throw Repeats.refusal("a transaction", e.getMessage());
        }
        repeated.increment();
      }
    }
  }

  private Connection fromPool() throws SQLException {
    long startNs = System.nanoTime();
    try {
      return pool.getConnection();
    } finally {
      poolWaitNs.add(System.nanoTime() - startNs);
    }
  }

  /** What was counted so far. */
  public Statistics statistics() {
    return new Statistics(transactions.sum(), repeated.sum(), poolWaitNs.sum() / 1000);
  }

  /** Reads something, with one statement or several independent ones. */
  public <T> T read(Work<T> work) throws RefusedException {
    try (Connection connection = fromPool()) {
      return work.run(connection);
    } catch (SQLException e) {
      throw Repeats.refusal("a query", e.getMessage());
    }
  }

  private static <T> T run(Connection connection, Work<T> work, BooleanSupplier commits)
      throws SQLException, RefusedException {
    boolean done = false;
    connection.setAutoCommit(false);
    try {
      T result = work.run(connection);
      if (commits.getAsBoolean()) {
        connection.commit();
        done = true;
      }
      return result;
    } finally {
      if (!done) {
        connection.rollback();
      }
      connection.setAutoCommit(true);
    }
  }

  /** Whether the database ended a transaction because of another one. */
  private static boolean isForOthers(SQLException e) {
    return e instanceof SQLTransactionRollbackException || Repeats.isForOthers(e.getSQLState());
  }

  /** The query for the next value of a sequence. */
  public String nextValue(String sequence) {
    return isH2 ? "SELECT NEXT VALUE FOR " + sequence : "SELECT nextval('" + sequence + "')";
  }

  /** A connection for what is no transaction of the application. */
  Connection connection() throws SQLException {
    return pool.getConnection();
  }

  @Override
  public void close() {
    pool.close();
  }
}
