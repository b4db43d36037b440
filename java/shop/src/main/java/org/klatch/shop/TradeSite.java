package org.klatch.shop;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.klatch.exchange.web.Reply;
import org.klatch.exchange.web.Request;
import org.klatch.exchange.web.Status;

/** The requests of workload trade, served by a {@link Brokerage}. All servers share this class. */
public final class TradeSite extends ShopSite {
  private static final List<String> GETS =
      List.of("home", "quotes", "account", "portfolio", "statistics");
  private static final List<String> POSTS =
      List.of("login", "logout", "register", "update", "buy", "sell");
  private static final String COOKIE = "user=";
  private static final int ORDERS_SHOWN = 5;
  private static final int QUOTES_MAX = 10;
  private static final int QUANTITY_MAX = 200;

  private final Brokerage brokerage;
  private final int quotes;

  /**
   * Serves a brokerage.
   *
   * @param quotes number of its quotes
   */
  public TradeSite(Brokerage brokerage, int quotes) {
    super("/trade/");
    this.brokerage = brokerage;
    this.quotes = quotes;
  }

  @Override
  public void close() {
    brokerage.close();
  }

  @Override
  protected Reply get(String name, Request request) throws RefusedException {
    return switch (name) {
      case "home" -> home(user(request));
      case "quotes" -> {
        user(request);
        yield quotes(request.query());
      }
      case "account" -> account(user(request));
      case "portfolio" -> portfolio(user(request));
      case "statistics" -> statistics(brokerage.statistics());
      default -> throw unknown(name, POSTS);
    };
  }

  @Override
  protected Reply post(String name, Request request) throws RefusedException {
    return switch (name) {
      case "login" -> {
        Form form = new Form(request.body(), "user", "password");
        Account account = brokerage.login(form.number(0, Long.MAX_VALUE), form.text(1));
        yield ok(TradeJson.account(new Json(), account), COOKIE + account.user());
      }
      case "logout" -> ok(TradeJson.account(new Json(), brokerage.logout(user(request))), COOKIE);
      case "register" -> {
        Form form = new Form(request.body(), "user", "password", "balance");
        long user = form.number(0, Long.MAX_VALUE);
        Account account =
            brokerage.register(user, form.text(1), form.number(2, Long.MAX_VALUE / 2));
        yield ok(TradeJson.account(new Json(), account), COOKIE + user);
      }
      case "update" -> {
        Form form = new Form(request.body(), "address", "email", "card");
        Profile profile = brokerage.update(user(request), form.text(0), form.text(1), form.text(2));
        yield ok(TradeJson.profile(new Json(), profile), null);
      }
      case "buy" -> {
        Form form = new Form(request.body(), "symbol", "quantity");
        int symbol = (int) form.number(0, Integer.MAX_VALUE);
        int quantity = (int) form.number(1, QUANTITY_MAX);
        if (quantity == 0) {
          throw new RefusedException(Status.BAD_REQUEST, "no shares to buy");
        }
        yield traded(brokerage.buy(user(request), existing(symbol), quantity));
      }
      case "sell" -> {
        Form form = new Form(request.body(), "holding");
        yield traded(brokerage.sell(user(request), form.number(0, Long.MAX_VALUE)));
      }
      default -> throw unknown(name, GETS);
    };
  }

  private Reply home(long user) throws RefusedException {
    List<Holding> holdings = brokerage.holdings(user);
    Market market = brokerage.market();
    Json json = TradeJson.account(new Json().raw("{\"account\":"), brokerage.account(user));
    json.raw(",\"holdings\":", holdings.size());
    json.raw(",\"cost\":", holdings.stream().mapToLong(Holding::cost).sum());
    json.raw(",\"market\":{\"gainers\":").list(market.gainers(), TradeJson::quote);
    return ok(json.raw(",\"losers\":").list(market.losers(), TradeJson::quote).raw("}}"), null);
  }

  private Reply quotes(String query) throws RefusedException {
    String[] symbols = new Form(query == null ? "" : query, "symbols").text(0).split(",", -1);
    if (symbols.length > QUOTES_MAX) {
      throw new RefusedException(Status.BAD_REQUEST, "at most 10 symbols");
    }
    List<Integer> numbers = new ArrayList<>(symbols.length);
    for (String symbol : symbols) {
      numbers.add(existing((int) Form.parse(symbol, Integer.MAX_VALUE)));
    }
    Json json = new Json().raw("{\"quotes\":").list(brokerage.quotes(numbers), TradeJson::quote);
    return ok(json.raw("}"), null);
  }

  private Reply account(long user) throws RefusedException {
    Json json = TradeJson.account(new Json().raw("{\"account\":"), brokerage.account(user));
    TradeJson.profile(json.raw(",\"profile\":"), brokerage.profile(user));
    json.raw(",\"orders\":").list(brokerage.lastOrders(user, ORDERS_SHOWN), TradeJson::order);
    return ok(json.raw("}"), null);
  }

  private Reply portfolio(long user) throws RefusedException {
    List<Holding> holdings = brokerage.holdings(user);
    List<Integer> symbols = holdings.stream().map(Holding::symbol).distinct().toList();
    Map<Integer, Quote> now = new HashMap<>();
    brokerage.quotes(symbols).forEach(quote -> now.put(quote.symbol(), quote));
    Json json = new Json().raw("{\"holdings\":");
    json.list(holdings, (to, holding) -> TradeJson.holding(to, holding, now.get(holding.symbol())));
    return ok(json.raw("}"), null);
  }

  private static Reply traded(Brokerage.Trade trade) {
    Json json = TradeJson.order(new Json().raw("{\"order\":"), trade.order());
    return ok(json.raw(",\"balance\":", trade.balance()).raw("}"), null);
  }

  private int existing(int symbol) throws RefusedException {
    if (symbol >= quotes) {
      throw new RefusedException(Status.NOT_FOUND, "there is no quote " + symbol);
    }
    return symbol;
  }

  /** The user of the cookie. */
  private static long user(Request request) throws RefusedException {
    String cookie = request.cookie();
    if (cookie != null) {
      for (String one : cookie.split("; ?", -1)) {
        if (one.startsWith(COOKIE) && one.length() > COOKIE.length()) {
          return Form.parse(one.substring(COOKIE.length()), Long.MAX_VALUE);
        }
      }
    }
    throw new RefusedException(Status.BAD_REQUEST, "the cookie user is missing: log in first");
  }
}
