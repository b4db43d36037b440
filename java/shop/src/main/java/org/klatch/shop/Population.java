package org.klatch.shop;

import java.util.ArrayList;
import java.util.List;
import org.klatch.exchange.SplitMix;

/**
 * The first state of every account and quote, as functions of a seed.
 *
 * @param seed seed of all draws
 * @param users number of users, at least 1
 * @param quotes number of quotes, at least 1
 */
public record Population(long seed, int users, int quotes) {
  /** Ids of first orders and holdings are the user's number times this, and up. */
  public static final int HOLDINGS_MAX = 10;

  private static final int USERS = 9;
  private static final int QUOTES = 10;
  private static final int CHANGES = 11;
  private static final long RICH_CENTS = 100_000_000;

  /**
   * A user as it is loaded.
   *
   * @param openBalance the balance before any order, cents
   * @param balance the balance after the first orders, cents
   * @param holdings each was bought by the order with the same id
   */
  public record FirstUser(long openBalance, long balance, List<Holding> holdings) {}

  /** The first price of a quote, cents. */
  public int open(int symbol) {
    long seedOfQuote = SplitMix.output(SplitMix.partSeed(seed, QUOTES), symbol);
    return 100 + below(SplitMix.output(seedOfQuote, 0), 19_901);
  }

  /** The user with this number. */
  public FirstUser user(int user) {
    long seedOfUser = SplitMix.output(SplitMix.partSeed(seed, USERS), user);
    long drawn = 20_000_000L + below(SplitMix.output(seedOfUser, 0), 10_000_001);
    long openBalance = user == 0 ? RICH_CENTS : drawn;
    int count = below(SplitMix.output(seedOfUser, 1), HOLDINGS_MAX + 1);
    long balance = openBalance;
    List<Holding> holdings = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      int symbol = below(SplitMix.output(seedOfUser, 2 + 2L * i), quotes);
      int quantity = 1 + below(SplitMix.output(seedOfUser, 3 + 2L * i), 200);
      Holding holding = new Holding((long) user * HOLDINGS_MAX + i, symbol, quantity, open(symbol));
      balance -= holding.cost() + Order.FEE;
      holdings.add(holding);
    }
    return new FirstUser(openBalance, balance, holdings);
  }

  /** The price of a quote after its change number {@code changes}, from 0, of this price. */
  public int next(int symbol, int changes, int price) {
    long seedOfQuote = SplitMix.output(SplitMix.partSeed(seed, CHANGES), symbol);
    return next(price, below(SplitMix.output(seedOfQuote, changes), 21));
  }

  /** The price after a change of a price, with a draw below 21. */
  static int next(int price, int draw) {
    if (price == 1) {
      return 600;
    }
    return price > 40_000 ? (price + 1) / 2 : (price * (90 + draw) + 50) / 100;
  }

  private static int below(long bits, int limit) {
    return SplitMix.scale(bits >>> 32, limit);
  }
}
