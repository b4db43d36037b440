package org.klatch.shop.vertx;

import io.vertx.core.Future;
import io.vertx.sqlclient.SqlConnection;
import io.vertx.sqlclient.Tuple;
import org.klatch.exchange.web.Status;
import org.klatch.shop.RefusedException;

/**
 * The price of a quote.
 *
 * @param cents of a share
 * @param changes of the price so far
 */
record Price(int cents, int changes) {
  /**
   * Reads the price of a quote.
   *
   * @param lock what follows the query
   */
  static Future<Price> read(SqlConnection connection, int symbol, String lock) {
    return Rows.one(
        connection,
        "SELECT price, changes FROM quotes WHERE symbol = $1" + lock,
        Tuple.of(symbol),
        row -> new Price(row.getInteger(0), row.getInteger(1)),
        new RefusedException(Status.NOT_FOUND, "there is no quote " + symbol));
  }
}
