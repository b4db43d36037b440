package org.klatch.shop.vertx;

import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.pgclient.PgBuilder;
import io.vertx.pgclient.PgConnectOptions;
import io.vertx.pgclient.PgException;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.PoolOptions;
import io.vertx.sqlclient.SqlConnection;
import io.vertx.sqlclient.Transaction;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Function;
import org.klatch.shop.RefusedException;
import org.klatch.shop.Statistics;
import org.klatch.shop.database.Repeats;
import org.klatch.web.ApplicationOptions;

/** A pool of connections to PostgreSQL, and transactions on them. */
final class Transactions {
  private static final int STATEMENTS = 64;
  private static final String JDBC = "jdbc:";

  private final PgConnectOptions server;
  private final PoolOptions size;
  private final LongAdder transactions = new LongAdder();
  private final LongAdder repeated = new LongAdder();
  private final LongAdder poolWaitNs = new LongAdder();
  private Pool pool; // null before the first request; guarded by this

  /** What is done on a connection, beginning with a call that does not wait. */
  interface Work<T> extends Function<SqlConnection, Future<T>> {}

  Transactions(ApplicationOptions options) {
    server = PgConnectOptions.fromUri(options.database().substring(JDBC.length()));
    if (!options.user().isEmpty()) {
      server.setUser(options.user());
    }
    if (!options.password().isEmpty()) {
      server.setPassword(options.password());
    }
    server.setCachePreparedStatements(options.keepsStatements());
    server.setPreparedStatementCacheMaxSize(STATEMENTS);
    size =
        new PoolOptions()
            .setMaxSize(options.connections())
            .setConnectionTimeout(30)
            .setConnectionTimeoutUnit(TimeUnit.SECONDS);
  }

  /** Makes a transaction. One that fails leaves nothing behind. */
  <T> Future<T> make(Work<T> work) {
    return make(work, 0);
  }

  private <T> Future<T> make(Work<T> work, int repeats) {
    Future<T> made = onConnection(connection -> once(connection, work));
    return made.onSuccess(unused -> transactions.increment())
        .recover(
            cause -> {
              if (repeats < Repeats.MAX && isForOthers(cause)) {
                repeated.increment();
                return make(work, repeats + 1);
              }
              return Future.failedFuture(refusal("a transaction", cause));
            });
  }

  private static <T> Future<T> once(SqlConnection connection, Work<T> work) {
    return connection
        .begin()
        .compose(
            transaction ->
                work.apply(connection)
                    .compose(result -> transaction.commit().map(result))
                    .recover(cause -> rolledBack(transaction, cause)));
  }

  /** Fails with the cause, whether the database still knew the transaction or not. */
  private static <T> Future<T> rolledBack(Transaction transaction, Throwable cause) {
    return transaction.rollback().transform(unused -> Future.failedFuture(cause));
  }

  /** Reads something, with one statement or several independent ones. */
  <T> Future<T> read(Work<T> work) {
    return onConnection(work).recover(cause -> Future.failedFuture(refusal("a query", cause)));
  }

  private <T> Future<T> onConnection(Work<T> work) {
    long startNs = System.nanoTime();
    return pool()
        .getConnection()
        .onComplete(unused -> poolWaitNs.add(System.nanoTime() - startNs))
        .compose(connection -> work.apply(connection).eventually(connection::close));
  }

  /** The pool in the Vert.x of the server, which is known when a request is there. */
  private synchronized Pool pool() {
    if (pool == null) {
      Context context = Vertx.currentContext();
      Vertx vertx = context == null ? Vertx.vertx() : context.owner();
      pool = PgBuilder.pool().with(size).connectingTo(server).using(vertx).build();
    }
    return pool;
  }

  Statistics statistics() {
    return new Statistics(transactions.sum(), repeated.sum(), poolWaitNs.sum() / 1000);
  }

  private static RefusedException refusal(String what, Throwable cause) {
    if (cause instanceof RefusedException refused) {
      return refused;
    }
    return Repeats.refusal(what, cause.getMessage());
  }

  /** Whether the database ended a transaction because of another one. */
  private static boolean isForOthers(Throwable cause) {
    return cause instanceof PgException failure && Repeats.isForOthers(failure.getSqlState());
  }
}
