package org.klatch.shop;

import java.util.List;

/**
 * The accounts, quotes, holdings and orders, as a database keeps them. Each method that changes
 * them is one transaction, but {@link #buy} and {@link #sell}, which are two. They may be called
 * from any thread.
 */
public interface Brokerage extends AutoCloseable {
  /** Counts a login. */
  Account login(long user, String password) throws RefusedException;

  /** Counts a logout. */
  Account logout(long user) throws RefusedException;

  /** Makes a new user, whose session begins. */
  Account register(long user, String password, long balance) throws RefusedException;

  /** Reads an account. */
  Account account(long user) throws RefusedException;

  /** Reads a profile. */
  Profile profile(long user) throws RefusedException;

  /** Changes all of a profile but the name. Returns what is then stored. */
  Profile update(long user, String address, String email, String card) throws RefusedException;

  /** The orders with the highest ids, highest first. */
  List<Order> lastOrders(long user, int most) throws RefusedException;

  /** The holdings by ascending id. */
  List<Holding> holdings(long user) throws RefusedException;

  /** Reads quotes, in the order of the symbols. */
  List<Quote> quotes(List<Integer> symbols) throws RefusedException;

  /** The quotes that moved most, at most 20 s old. */
  Market market() throws RefusedException;

  /** Buys shares. */
  Trade buy(long user, int symbol, int quantity) throws RefusedException;

  /** Sells a holding. */
  Trade sell(long user, long holding) throws RefusedException;

  /** What was counted since the start. */
  Statistics statistics();

  /** Closes the connections to the database. */
  @Override
  void close();

  /**
   * The result of an order.
   *
   * @param balance the balance after it, cents
   */
  record Trade(Order order, long balance) {}
}
