package org.klatch.shop.vertx;

import io.vertx.core.Future;
import io.vertx.sqlclient.SqlConnection;
import io.vertx.sqlclient.Tuple;
import org.klatch.exchange.web.Status;
import org.klatch.shop.Brokerage.Trade;
import org.klatch.shop.Holding;
import org.klatch.shop.Order;
import org.klatch.shop.RefusedException;

/** One order while its transaction is made. Each step sends a statement and keeps its result. */
final class OrderEntry {
  private final SqlConnection connection;
  private final long user;
  private final VertxIds orderIds;

  private long balance;
  private Price price;
  private Holding holding;
  private Order order;

  OrderEntry(SqlConnection connection, long user, VertxIds orderIds) {
    this.connection = connection;
    this.user = user;
    this.orderIds = orderIds;
  }

  /** Buys shares. */
  Future<Trade> buy(VertxIds holdingIds, int symbol, int quantity) {
    return lockAccount()
        .compose(unused -> readPrice(symbol))
        .compose(unused -> holdingIds.next(connection))
        .onSuccess(id -> holding = new Holding(id, symbol, quantity, price.cents()))
        .compose(unused -> open(false))
        .compose(unused -> setBalance())
        .compose(unused -> insertHolding())
        .compose(unused -> close());
  }

  /** Sells a holding. */
  Future<Trade> sell(long id) {
    return lockAccount()
        .compose(unused -> lockHolding(id))
        .compose(unused -> readPrice(holding.symbol()))
        .compose(unused -> open(true))
        .compose(unused -> setBalance())
        .compose(unused -> deleteHolding())
        .compose(unused -> close());
  }

  private Future<?> lockAccount() {
    return Rows.one(
            connection,
            "SELECT balance FROM accounts WHERE user_id = $1 FOR UPDATE",
            Tuple.of(user),
            row -> row.getLong(0),
            Accounts.unknown(user))
        .onSuccess(locked -> balance = locked);
  }

  private Future<?> readPrice(int symbol) {
    return Price.read(connection, symbol, "").onSuccess(read -> price = read);
  }

  private Future<?> lockHolding(long id) {
    return Rows.one(
            connection,
            "SELECT id, symbol, quantity, paid FROM holdings WHERE id = $1 AND user_id = $2"
                + " FOR UPDATE",
            Tuple.of(id, user),
            Reads::holding,
            new RefusedException(Status.NOT_FOUND, "user " + user + " has no holding " + id))
        .onSuccess(locked -> holding = locked);
  }

  private Future<?> open(boolean isSell) {
    return orderIds
        .next(connection)
        .onSuccess(
            id ->
                order =
                    new Order(
                        id,
                        isSell,
                        holding.symbol(),
                        holding.quantity(),
                        price.cents(),
                        price.changes(),
                        Order.FEE,
                        holding.id()))
        .compose(
            id ->
                execute(
                    "INSERT INTO orders VALUES ($1, $2, $3, FALSE, $4, $5, $6, $7, $8, NULL)",
                    Tuple.of(
                        id,
                        user,
                        isSell,
                        order.symbol(),
                        order.quantity(),
                        order.price(),
                        order.changes(),
                        order.fee())));
  }

  private Future<?> setBalance() {
    balance += order.gain();
    return execute("UPDATE accounts SET balance = $1 WHERE user_id = $2", Tuple.of(balance, user));
  }

  private Future<?> insertHolding() {
    return execute(
        "INSERT INTO holdings VALUES ($1, $2, $3, $4, $5)",
        Tuple.of(holding.id(), user, holding.symbol(), holding.quantity(), holding.paid()));
  }

  private Future<?> deleteHolding() {
    return execute("DELETE FROM holdings WHERE id = $1", Tuple.of(holding.id()));
  }

  private Future<Trade> close() {
    return execute(
            "UPDATE orders SET is_closed = TRUE, holding = $1 WHERE id = $2",
            Tuple.of(order.holding(), order.id()))
        .map(unused -> new Trade(order, balance));
  }

  private Future<?> execute(String sql, Tuple values) {
    return connection.preparedQuery(sql).execute(values);
  }
}
