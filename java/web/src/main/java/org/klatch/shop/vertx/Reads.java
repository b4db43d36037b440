package org.klatch.shop.vertx;

import io.vertx.core.Future;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.SqlConnection;
import io.vertx.sqlclient.Tuple;
import java.util.ArrayList;
import java.util.List;
import org.klatch.exchange.web.Status;
import org.klatch.shop.Holding;
import org.klatch.shop.Market;
import org.klatch.shop.Order;
import org.klatch.shop.Quote;
import org.klatch.shop.RefusedException;

/** What is read and not changed: orders, holdings, quotes and the market. */
final class Reads {
  private static final int MOST_MOVED = 5;
  private static final String QUOTE = "SELECT symbol, price, opened, changes, volume FROM quotes";

  private final Transactions transactions;

  Reads(Transactions transactions) {
    this.transactions = transactions;
  }

  /** The orders with the highest ids, highest first. */
  Future<List<Order>> lastOrders(long user, int most) {
    return transactions.read(
        connection ->
            Rows.all(
                connection,
                "SELECT id, is_sell, symbol, quantity, price, changes, fee, holding FROM orders"
                    + " WHERE user_id = $1 ORDER BY id DESC FETCH FIRST $2 ROWS ONLY",
                Tuple.of(user, (long) most),
                Reads::order));
  }

  private static Order order(Row row) {
    return new Order(
        row.getLong(0),
        row.getBoolean(1),
        row.getInteger(2),
        row.getInteger(3),
        row.getInteger(4),
        row.getInteger(5),
        row.getLong(6),
        row.getLong(7));
  }

  /** The holdings by ascending id. */
  Future<List<Holding>> holdings(long user) {
    return transactions.read(
        connection ->
            Rows.all(
                connection,
                "SELECT id, symbol, quantity, paid FROM holdings WHERE user_id = $1 ORDER BY id",
                Tuple.of(user),
                Reads::holding));
  }

  /** Parses id, symbol, quantity and paid. */
  static Holding holding(Row row) {
    return new Holding(row.getLong(0), row.getInteger(1), row.getInteger(2), row.getInteger(3));
  }

  /** Quotes, in the order of the symbols. */
  Future<List<Quote>> quotes(List<Integer> symbols) {
    return transactions.read(connection -> quotes(connection, symbols));
  }

  /** Sends the statements for all quotes before the first result is there. */
  private static Future<List<Quote>> quotes(SqlConnection connection, List<Integer> symbols) {
    List<Future<Quote>> quotes = new ArrayList<>(symbols.size());
    for (int symbol : symbols) {
      quotes.add(
          Rows.one(
              connection,
              QUOTE + " WHERE symbol = $1",
              Tuple.of(symbol),
              Reads::quote,
              new RefusedException(Status.NOT_FOUND, "there is no quote " + symbol)));
    }
    return Future.join(quotes).map(all -> all.list());
  }

  private static Quote quote(Row row) {
    return new Quote(
        row.getInteger(0), row.getInteger(1), row.getInteger(2), row.getInteger(3), row.getLong(4));
  }

  /** The quotes that moved most. */
  Future<Market> market() {
    return transactions.read(
        connection ->
            moved(connection, "DESC")
                .compose(
                    gainers ->
                        moved(connection, "ASC").map(losers -> new Market(gainers, losers))));
  }

  private static Future<List<Quote>> moved(SqlConnection connection, String direction) {
    return Rows.all(
        connection,
        QUOTE + " ORDER BY price - opened " + direction + " FETCH FIRST $1 ROWS ONLY",
        Tuple.of((long) MOST_MOVED),
        Reads::quote);
  }
}
