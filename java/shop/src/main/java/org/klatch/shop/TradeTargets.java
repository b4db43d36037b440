package org.klatch.shop;

import java.util.ArrayList;
import java.util.List;
import org.klatch.exchange.web.Reply;
import org.klatch.exchange.web.Request;
import org.klatch.exchange.web.Status;

/** The requests of workload trade, checked and parsed. */
public abstract class TradeTargets extends ShopTargets {
  private static final List<String> GETS =
      List.of("home", "quotes", "account", "portfolio", "statistics");
  private static final List<String> POSTS =
      List.of("login", "logout", "register", "update", "buy", "sell");
  private static final int QUOTES_MAX = 10;
  private static final int QUANTITY_MAX = 200;

  private final int quotes;

  /**
   * Serves a brokerage.
   *
   * @param quotes number of its quotes
   */
  protected TradeTargets(int quotes) {
    super("/trade/");
    this.quotes = quotes;
  }

  /** The page of an account with its holdings and the market. */
  protected abstract Reply home(long user) throws RefusedException;

  /** Up to 10 quotes, in the order of the symbols. */
  protected abstract Reply quotes(List<Integer> symbols) throws RefusedException;

  /** The page of an account with its profile and last orders. */
  protected abstract Reply account(long user) throws RefusedException;

  /** The page of all holdings at their prices. */
  protected abstract Reply portfolio(long user) throws RefusedException;

  /** The counts of transactions. */
  protected abstract Reply statistics();

  /** Begins a session. */
  protected abstract Reply login(long user, String password) throws RefusedException;

  /** Ends a session. */
  protected abstract Reply logout(long user) throws RefusedException;

  /**
   * Makes a user.
   *
   * @param balance of the account, cents
   */
  protected abstract Reply register(long user, String password, long balance)
      throws RefusedException;

  /** Changes a profile. */
  protected abstract Reply update(long user, String address, String email, String card)
      throws RefusedException;

  /** Buys shares. */
  protected abstract Reply buy(long user, int symbol, int quantity) throws RefusedException;

  /** Sells a holding. */
  protected abstract Reply sell(long user, long holding) throws RefusedException;

  @Override
  protected final Reply get(String name, Request request) throws RefusedException {
    return switch (name) {
      case "home" -> home(user(request));
      case "quotes" -> {
        user(request);
        yield quotes(symbols(request.query()));
      }
      case "account" -> account(user(request));
      case "portfolio" -> portfolio(user(request));
      case "statistics" -> statistics();
      default -> throw unknown(name, POSTS);
    };
  }

  @Override
  protected final Reply post(String name, Request request) throws RefusedException {
    return switch (name) {
      case "login" -> {
        Form form = new Form(request.body(), "user", "password");
        yield login(form.number(0, Long.MAX_VALUE), form.text(1));
      }
      case "logout" -> logout(user(request));
      case "register" -> {
        Form form = new Form(request.body(), "user", "password", "balance");
        long user = form.number(0, Long.MAX_VALUE);
        yield register(user, form.text(1), form.number(2, Long.MAX_VALUE / 2));
      }
      case "update" -> {
        Form form = new Form(request.body(), "address", "email", "card");
        yield update(user(request), form.text(0), form.text(1), form.text(2));
      }
      case "buy" -> {
        Form form = new Form(request.body(), "symbol", "quantity");
        int symbol = (int) form.number(0, Integer.MAX_VALUE);
        int quantity = (int) form.number(1, QUANTITY_MAX);
        if (quantity == 0) {
          throw new RefusedException(Status.BAD_REQUEST, "no shares to buy");
        }
        yield buy(user(request), existing(symbol), quantity);
      }
      case "sell" -> {
        Form form = new Form(request.body(), "holding");
        yield sell(user(request), form.number(0, Long.MAX_VALUE));
      }
      default -> throw unknown(name, GETS);
    };
  }

  private List<Integer> symbols(String query) throws RefusedException {
    String[] symbols = new Form(query == null ? "" : query, "symbols").text(0).split(",", -1);
    if (symbols.length > QUOTES_MAX) {
      throw new RefusedException(Status.BAD_REQUEST, "at most 10 symbols");
    }
    List<Integer> numbers = new ArrayList<>(symbols.length);
    for (String symbol : symbols) {
      numbers.add(existing((int) Form.parse(symbol, Integer.MAX_VALUE)));
    }
    return numbers;
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
        if (one.startsWith(TradeReplies.COOKIE) && one.length() > TradeReplies.COOKIE.length()) {
          return Form.parse(one.substring(TradeReplies.COOKIE.length()), Long.MAX_VALUE);
        }
      }
    }
    throw new RefusedException(Status.BAD_REQUEST, "the cookie user is missing: log in first");
  }
}
