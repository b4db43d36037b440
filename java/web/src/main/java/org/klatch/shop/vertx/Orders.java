package org.klatch.shop.vertx;

import io.vertx.core.Future;
import io.vertx.sqlclient.SqlConnection;
import io.vertx.sqlclient.Tuple;
import org.klatch.shop.Brokerage.Trade;
import org.klatch.shop.Population;

/**
 * The transactions of orders: the order itself in one, and the new price of its quote in a second
 * one. The reply follows both.
 */
final class Orders {
  private final Transactions transactions;
  private final Population population;
  private final VertxIds orderIds = new VertxIds("order_ids");
  private final VertxIds holdingIds = new VertxIds("holding_ids");

  Orders(Transactions transactions, Population population) {
    this.transactions = transactions;
    this.population = population;
  }

  /** Buys shares at the price of their quote. */
  Future<Trade> buy(long user, int symbol, int quantity) {
    return transactions
        .make(
            connection ->
                new OrderEntry(connection, user, orderIds).buy(holdingIds, symbol, quantity))
        .compose(this::changePrice);
  }

  /** Sells a holding at the price of its quote. */
  Future<Trade> sell(long user, long holding) {
    return transactions
        .make(connection -> new OrderEntry(connection, user, orderIds).sell(holding))
        .compose(this::changePrice);
  }

  /** The second transaction: a new price, and the shares as volume. */
  private Future<Trade> changePrice(Trade trade) {
    int symbol = trade.order().symbol();
    return transactions
        .make(
            connection ->
                Price.read(connection, symbol, " FOR UPDATE")
                    .compose(old -> store(connection, symbol, old, trade.order().quantity())))
        .map(unused -> trade);
  }

  private Future<?> store(SqlConnection connection, int symbol, Price old, int quantity) {
    int next = population.next(symbol, old.changes(), old.cents());
    return connection
        .preparedQuery(
            "UPDATE quotes SET price = $1, changes = $2, volume = volume + $3 WHERE symbol = $4")
        .execute(Tuple.of(next, old.changes() + 1, (long) quantity, symbol));
  }
}
