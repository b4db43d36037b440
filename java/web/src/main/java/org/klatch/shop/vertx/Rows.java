package org.klatch.shop.vertx;

import io.vertx.core.Future;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.SqlConnection;
import io.vertx.sqlclient.Tuple;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import org.klatch.shop.RefusedException;

/** The rows of prepared queries. */
final class Rows {
  private Rows() {}

  /** All rows. */
  static <T> Future<List<T>> all(
      SqlConnection connection, String sql, Tuple values, Function<Row, T> parse) {
    return connection
        .preparedQuery(sql)
        .execute(values)
        .map(
            rows -> {
              List<T> parsed = new ArrayList<>(rows.size());
              rows.forEach(row -> parsed.add(parse.apply(row)));
              return parsed;
            });
  }

  /** The first row; empty if there is none. */
  static <T> Future<Optional<T>> first(
      SqlConnection connection, String sql, Tuple values, Function<Row, T> parse) {
    return all(connection, sql, values, parse).map(rows -> rows.stream().findFirst());
  }

  /** The first row, or a failure if there is none. */
  static <T> Future<T> one(
      SqlConnection connection,
      String sql,
      Tuple values,
      Function<Row, T> parse,
      RefusedException ifNone) {
    return first(connection, sql, values, parse)
        .compose(
            row -> row.<Future<T>>map(Future::succeededFuture).orElse(Future.failedFuture(ifNone)));
  }
}
