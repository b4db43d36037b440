package org.klatch.payara;

import jakarta.ejb.EJBException;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
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
import org.klatch.shop.database.Ids;
import org.klatch.shop.database.MarketCache;
import org.klatch.shop.database.Repeats;

/** The brokerage by the transactions of a session bean. */
final class JpaBrokerage implements Brokerage {
  private final Transactions transactions;
  private final Population population;
  private final Ids orderIds = new Ids("SELECT nextval('order_ids')");
  private final Ids holdingIds = new Ids("SELECT nextval('holding_ids')");
  private final MarketCache market = new MarketCache();
  private final LongAdder stored = new LongAdder();
  private final LongAdder repeated = new LongAdder();

  private interface Work<T> {
    T run() throws RefusedException;
  }

  JpaBrokerage(Transactions transactions, Population population) {
    this.transactions = transactions;
    this.population = population;
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
            () -> transactions.buy(user, symbol, quantity, next(orderIds), next(holdingIds))));
  }

  @Override
  public Trade sell(long user, long holding) throws RefusedException {
    return withNewPrice(transaction(() -> transactions.sell(user, holding, next(orderIds))));
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
        if (repeats == Repeats.MAX || !isForOthers(e)) {
          throw Repeats.refusal("a transaction", deepest(e).getMessage());
        }
        repeated.increment();
      }
    }
  }

  private long next(Ids ids) {
    return ids.next(() -> transactions.number(ids.query()));
  }

  /** Whether the database ended a transaction because of another one. */
  private static boolean isForOthers(Throwable e) {
    for (Throwable cause = e; cause != null; cause = cause.getCause()) {
      if (cause instanceof SQLException sql && Repeats.isForOthers(sql.getSQLState())) {
        return true;
      }
    }
    return false;
  }

  private static Throwable deepest(Throwable e) {
    Throwable cause = e;
    while (cause.getCause() != null) {
      cause = cause.getCause();
    }
    return cause;
  }
}
