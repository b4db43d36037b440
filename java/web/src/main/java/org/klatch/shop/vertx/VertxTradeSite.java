package org.klatch.shop.vertx;

import io.vertx.core.Future;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.klatch.exchange.web.Reply;
import org.klatch.exchange.web.Request;
import org.klatch.exchange.web.Responder;
import org.klatch.shop.Holding;
import org.klatch.shop.Market;
import org.klatch.shop.Population;
import org.klatch.shop.RefusedException;
import org.klatch.shop.Replies;
import org.klatch.shop.TradeReplies;
import org.klatch.shop.TradeTargets;

/** The requests of workload trade, each served by a chain of statements. */
final class VertxTradeSite extends TradeTargets<Future<Reply>> implements Responder {
  private final Transactions transactions;
  private final Accounts accounts;
  private final Reads reads;
  private final MarketReads market;
  private final Orders orders;

  VertxTradeSite(Transactions transactions, Population population) {
    super(population.quotes());
    this.transactions = transactions;
    accounts = new Accounts(transactions);
    reads = new Reads(transactions);
    market = new MarketReads(reads::market);
    orders = new Orders(transactions, population);
  }

  /** Waits for the reply, for servers whose threads may. */
  @Override
  public Reply reply(Request request) {
    return replyAsync(request).toCompletableFuture().join();
  }

  @Override
  public CompletionStage<Reply> replyAsync(Request request) {
    return served(request)
        .recover(
            cause ->
                cause instanceof RefusedException refused
                    ? Future.succeededFuture(Replies.refused(refused))
                    : Future.failedFuture(cause))
        .toCompletionStage();
  }

  private Future<Reply> served(Request request) {
    try {
      return serve(request);
    } catch (RefusedException refused) {
      return Future.failedFuture(refused);
    }
  }

  @Override
  protected Future<Reply> home(long user) {
    return reads
        .holdings(user)
        .compose(holdings -> market.market().compose(now -> home(user, holdings, now)));
  }

  private Future<Reply> home(long user, List<Holding> holdings, Market now) {
    return accounts.account(user).map(account -> TradeReplies.home(account, holdings, now));
  }

  @Override
  protected Future<Reply> quotes(List<Integer> symbols) {
    return reads.quotes(symbols).map(TradeReplies::quotes);
  }

  @Override
  protected Future<Reply> account(long user) {
    return accounts
        .account(user)
        .compose(
            account ->
                accounts
                    .profile(user)
                    .compose(
                        profile ->
                            reads
                                .lastOrders(user, TradeReplies.ORDERS_SHOWN)
                                .map(last -> TradeReplies.account(account, profile, last))));
  }

  @Override
  protected Future<Reply> portfolio(long user) {
    return reads
        .holdings(user)
        .compose(
            holdings ->
                reads
                    .quotes(TradeReplies.symbols(holdings))
                    .map(quotes -> TradeReplies.portfolio(holdings, quotes)));
  }

  @Override
  protected Future<Reply> statistics() {
    return Future.succeededFuture(Replies.statistics(transactions.statistics()));
  }

  @Override
  protected Future<Reply> login(long user, String password) {
    return accounts.login(user, password).map(TradeReplies::sessionBegun);
  }

  @Override
  protected Future<Reply> logout(long user) {
    return accounts.logout(user).map(TradeReplies::sessionEnded);
  }

  @Override
  protected Future<Reply> register(long user, String password, long balance) {
    return accounts.register(user, password, balance).map(TradeReplies::sessionBegun);
  }

  @Override
  protected Future<Reply> update(long user, String address, String email, String card) {
    return accounts.update(user, address, email, card).map(TradeReplies::profile);
  }

  @Override
  protected Future<Reply> buy(long user, int symbol, int quantity) {
    return orders.buy(user, symbol, quantity).map(TradeReplies::traded);
  }

  @Override
  protected Future<Reply> sell(long user, long holding) {
    return orders.sell(user, holding).map(TradeReplies::traded);
  }
}
