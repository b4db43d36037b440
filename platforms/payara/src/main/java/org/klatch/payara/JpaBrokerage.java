package org.klatch.payara;

import jakarta.ejb.EJBException;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import org.klatch.exchange.web.Status;
import org.klatch.shop.Account;
import org.klatch.shop.Brokerage;
import org.klatch.shop.Holding;
import org.klatch.shop.Market;
import org.klatch.shop.Order;
import org.klatch.shop.Population;
import org.klatch.shop.Profile;
import org.klatch.shop.Quote;
import org.klatch.shop.RefusedException;
import org.klatch.shop.Statistics;
import org.klatch.shop.database.MarketCache;

/** The brokerage by the transactions of a session bean. */
final class JpaBrokerage implements Brokerage {
  /** A transaction that the database ends for the sake of others is made again so many times. */
  private static final int REPEATS_MAX = 5;

  private final Transactions transactions;
  private final Population population;
  private final IdBlocks orderIds;
  private final IdBlocks holdingIds;
  private final MarketCache market = new MarketCache();
  private final LongAdder stored = new LongAdder();
  private final LongAdder repeated = new LongAdder();

  private interface Work<T> {
    T run() throws RefusedException;
  }

  JpaBrokerage(Transactions transactions, Population population) {
    this.transactions = transactions;
    this.population = population;
    orderIds = new IdBlocks(() -> transactions.nextValue("order_ids"));
    holdingIds = new IdBlocks(() -> transactions.nextValue("holding_ids"));
  }

  @Override
  public Account login(long user, String password) throws RefusedException {
    return transaction(() -> transactions.login(user, password));
  }

  @Override
  public Account logout(long user) throws RefusedException {
    return transaction(() -> transactions.logout(user));
  }

  @Override
  public Account register(long user, String password, long balance) throws RefusedException {
    return transaction(() -> transactions.register(user, password, balance));
  }

  @Override
  public Profile update(long user, String address, String email, String card)
      throws RefusedException {
    return transaction(() -> transactions.update(user, address, email, card));
  }

  @Override
  public Trade buy(long user, int symbol, int quantity) throws RefusedException {
    return withNewPrice(
        transaction(
            () -> transactions.buy(user, symbol, quantity, orderIds.next(), holdingIds.next())));
  }

  @Override
  public Trade sell(long user, long holding) throws RefusedException {
    return withNewPrice(transaction(() -> transactions.sell(user, holding, orderIds.next())));
  }

  private Trade withNewPrice(Trade trade) throws RefusedException {
    Order order = trade.order();
    transaction(
        () -> {
          transactions.changePrice(population, order.symbol(), order.quantity());
          return null;
        });
    return trade;
  }

  @Override
  public Account account(long user) throws RefusedException {
    return transactions.account(user);
  }

  @Override
  public Profile profile(long user) throws RefusedException {
    return transactions.profile(user);
  }

  @Override
  public List<Order> lastOrders(long user, int most) {
    return transactions.lastOrders(user, most);
  }

  @Override
  public List<Holding> holdings(long user) {
    return transactions.holdings(user);
  }

  @Override
  public List<Quote> quotes(List<Integer> symbols) throws RefusedException {
    return transactions.quotes(symbols);
  }

  @Override
  public Market market() throws RefusedException {
    return market.market(() -> new Market(transactions.moved(true), transactions.moved(false)));
  }

  /** Without the time that requests waited for the pool of the server, which is not known. */
  @Override
  public Statistics statistics() {
    return new Statistics(stored.sum(), repeated.sum(), 0);
  }

  /** The server closes its pool. */
  @Override
  public void close() {}

  private <T> T transaction(Work<T> work) throws RefusedException {
    for (int repeats = 0; ; repeats++) {
      try {
        T result = work.run();
        stored.increment();
        return result;
      } catch (EJBException e) {
        if (repeats == REPEATS_MAX || !isForOthers(e)) {
          throw new RefusedException(
              Status.INTERNAL_SERVER_ERROR, "a transaction failed: " + plain(e));
        }
        repeated.increment();
      }
    }
  }

  /** Whether the database ended a transaction because of another one. */
  private static boolean isForOthers(Throwable e) {
    for (Throwable cause = e; cause != null; cause = cause.getCause()) {
      if (cause instanceof SQLException sql
          && sql.getSQLState() != null
          && (sql.getSQLState().startsWith("40") || sql.getSQLState().equals("55P03"))) {
        return true;
      }
    }
    return false;
  }

  /** The first line of the deepest cause, without what JSON would escape. */
  private static String plain(Throwable e) {
    Throwable cause = e;
    while (cause.getCause() != null) {
      cause = cause.getCause();
    }
    String line = String.valueOf(cause.getMessage()).lines().findFirst().orElse("");
    return line.replaceAll("[^ -~]|[\"\\\\]", "'");
  }
}
