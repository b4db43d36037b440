package org.klatch.shop;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.klatch.exchange.web.Reply;

/** The replies of workload trade. */
public final class TradeReplies {
  /** Most orders on the page of an account. */
  public static final int ORDERS_SHOWN = 5;

  /** The cookie of a session begins so; the number of the user follows. */
  static final String COOKIE = "user=";

  private TradeReplies() {}

  /** The reply to a login or a registration, which sets the cookie. */
  public static Reply sessionBegun(Account account) {
    return Replies.ok(TradeJson.account(new Json(), account), COOKIE + account.user());
  }

  /** The reply to a logout, which clears the cookie. */
  public static Reply sessionEnded(Account account) {
    return Replies.ok(TradeJson.account(new Json(), account), COOKIE);
  }

  /** The page of an account with its holdings and the market. */
  public static Reply home(Account account, List<Holding> holdings, Market market) {
    Json json = TradeJson.account(new Json().raw("{\"account\":"), account);
    json.raw(",\"holdings\":", holdings.size());
    json.raw(",\"cost\":", holdings.stream().mapToLong(Holding::cost).sum());
    json.raw(",\"market\":{\"gainers\":").list(market.gainers(), TradeJson::quote);
    return Replies.ok(json.raw(",\"losers\":").list(market.losers(), TradeJson::quote).raw("}}"));
  }

  /** The page of some quotes. */
  public static Reply quotes(List<Quote> quotes) {
    Json json = new Json().raw("{\"quotes\":").list(quotes, TradeJson::quote);
    return Replies.ok(json.raw("}"));
  }

  /** The page of an account with its profile and last orders. */
  public static Reply account(Account account, Profile profile, List<Order> orders) {
    Json json = TradeJson.account(new Json().raw("{\"account\":"), account);
    TradeJson.profile(json.raw(",\"profile\":"), profile);
    return Replies.ok(json.raw(",\"orders\":").list(orders, TradeJson::order).raw("}"));
  }

  /** The symbols of holdings, each once. */
  public static List<Integer> symbols(List<Holding> holdings) {
    return holdings.stream().map(Holding::symbol).distinct().toList();
  }

  /**
   * The page of all holdings.
   *
   * @param quotes those of all {@link #symbols}
   */
  public static Reply portfolio(List<Holding> holdings, List<Quote> quotes) {
    Map<Integer, Quote> now = new HashMap<>();
    quotes.forEach(quote -> now.put(quote.symbol(), quote));
    Json json = new Json().raw("{\"holdings\":");
    json.list(holdings, (to, holding) -> TradeJson.holding(to, holding, now.get(holding.symbol())));
    return Replies.ok(json.raw("}"));
  }

  /** The profile that is stored after an update. */
  public static Reply profile(Profile profile) {
    return Replies.ok(TradeJson.profile(new Json(), profile));
  }

  /** The reply to an order. */
  public static Reply traded(Brokerage.Trade trade) {
    Json json = TradeJson.order(new Json().raw("{\"order\":"), trade.order());
    return Replies.ok(json.raw(",\"balance\":", trade.balance()).raw("}"));
  }
}
