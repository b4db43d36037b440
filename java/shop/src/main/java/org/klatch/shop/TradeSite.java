package org.klatch.shop;

import java.util.List;
import org.klatch.exchange.web.Reply;

/** The requests of workload trade, served by a {@link Brokerage}. */
public final class TradeSite extends TradeTargets implements BlockingSite {
  private final Brokerage brokerage;

  /**
   * Serves a brokerage.
   *
   * @param quotes number of its quotes
   */
  public TradeSite(Brokerage brokerage, int quotes) {
    super(quotes);
    this.brokerage = brokerage;
  }

  @Override
  public void close() {
    brokerage.close();
  }

  @Override
  protected Reply home(long user) throws RefusedException {
    List<Holding> holdings = brokerage.holdings(user);
    Market market = brokerage.market();
    return TradeReplies.home(brokerage.account(user), holdings, market);
  }

  @Override
  protected Reply quotes(List<Integer> symbols) throws RefusedException {
    return TradeReplies.quotes(brokerage.quotes(symbols));
  }

  @Override
  protected Reply account(long user) throws RefusedException {
    Account account = brokerage.account(user);
    Profile profile = brokerage.profile(user);
    return TradeReplies.account(
        account, profile, brokerage.lastOrders(user, TradeReplies.ORDERS_SHOWN));
  }

  @Override
  protected Reply portfolio(long user) throws RefusedException {
    List<Holding> holdings = brokerage.holdings(user);
    return TradeReplies.portfolio(holdings, brokerage.quotes(TradeReplies.symbols(holdings)));
  }

  @Override
  protected Reply statistics() {
    return Replies.statistics(brokerage.statistics());
  }

  @Override
  protected Reply login(long user, String password) throws RefusedException {
    return TradeReplies.sessionBegun(brokerage.login(user, password));
  }

  @Override
  protected Reply logout(long user) throws RefusedException {
    return TradeReplies.sessionEnded(brokerage.logout(user));
  }

  @Override
  protected Reply register(long user, String password, long balance) throws RefusedException {
    return TradeReplies.sessionBegun(brokerage.register(user, password, balance));
  }

  @Override
  protected Reply update(long user, String address, String email, String card)
      throws RefusedException {
    return TradeReplies.profile(brokerage.update(user, address, email, card));
  }

  @Override
  protected Reply buy(long user, int symbol, int quantity) throws RefusedException {
    return TradeReplies.traded(brokerage.buy(user, symbol, quantity));
  }

  @Override
  protected Reply sell(long user, long holding) throws RefusedException {
    return TradeReplies.traded(brokerage.sell(user, holding));
  }
}
