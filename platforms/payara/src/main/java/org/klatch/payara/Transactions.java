package org.klatch.payara;

import static jakarta.persistence.LockModeType.PESSIMISTIC_WRITE;

import jakarta.ejb.Stateless;
import jakarta.ejb.TransactionAttribute;
import jakarta.ejb.TransactionAttributeType;
import jakarta.persistence.EntityManager;
import jakarta.persistence.PersistenceContext;
import java.util.ArrayList;
import java.util.List;
import org.klatch.exchange.web.Status;
import org.klatch.shop.Account;
import org.klatch.shop.Brokerage.Trade;
import org.klatch.shop.Holding;
import org.klatch.shop.Order;
import org.klatch.shop.Population;
import org.klatch.shop.Profile;
import org.klatch.shop.Quote;
import org.klatch.shop.RefusedException;

/** The transactions of the brokerage: each call of a method is one, which the container commits. */
@Stateless
public class Transactions {
  private static final int MOST_MOVED = 5;

  @PersistenceContext(unitName = "trade")
  private EntityManager entities;

  /** Counts a login. */
  public Account login(long user, String password) throws RefusedException {
    ProfileEntity profile = entities.find(ProfileEntity.class, user);
    if (profile == null || !profile.hasPassword(password)) {
      throw new RefusedException(
          Status.UNAUTHORIZED, "user " + user + " is unknown, or has another password");
    }
    AccountEntity account = lockAccount(user);
    account.countLogin();
    return account.account();
  }

  /** Counts a logout. */
  public Account logout(long user) throws RefusedException {
    AccountEntity account = lockAccount(user);
    account.countLogout();
    return account.account();
  }

  /** Makes a new user, whose session begins. */
  public Account register(long user, String password, long balance) throws RefusedException {
    if (entities.find(AccountEntity.class, user) != null) {
      throw new RefusedException(Status.CONFLICT, "user " + user + " exists already");
    }
    AccountEntity account = new AccountEntity(user, balance);
    entities.persist(account);
    entities.persist(new ProfileEntity(user, password));
    return account.account();
  }

  /** Changes all of a profile but the name. */
  public Profile update(long user, String address, String email, String card)
      throws RefusedException {
    ProfileEntity profile = entities.find(ProfileEntity.class, user, PESSIMISTIC_WRITE);
    if (profile == null) {
      throw unknown(user);
    }
    profile.change(address, email, card);
    return profile.profile();
  }

  /** The first transaction of a purchase. */
  public Trade buy(long user, int symbol, int quantity, long orderId, long holdingId)
      throws RefusedException {
    AccountEntity account = lockAccount(user);
    Quote quote = find(symbol).quote();
    Order order = order(orderId, false, quote, quantity, holdingId);
    OrderEntity entity = new OrderEntity(user, order);
    entities.persist(entity);
    long balance = account.add(order.gain());
    entities.persist(
        new HoldingEntity(user, new Holding(holdingId, symbol, quantity, quote.price())));
    entity.close(holdingId);
    return new Trade(order, balance);
  }

  /** The first transaction of a sale. */
  public Trade sell(long user, long holdingId, long orderId) throws RefusedException {
    AccountEntity account = lockAccount(user);
    HoldingEntity held = entities.find(HoldingEntity.class, holdingId, PESSIMISTIC_WRITE);
    if (held == null || !held.isOf(user)) {
      throw new RefusedException(Status.NOT_FOUND, "user " + user + " has no holding " + holdingId);
    }
    Holding holding = held.holding();
    Quote quote = find(holding.symbol()).quote();
    Order order = order(orderId, true, quote, holding.quantity(), holdingId);
    OrderEntity entity = new OrderEntity(user, order);
    entities.persist(entity);
    long balance = account.add(order.gain());
    entities.remove(held);
    entity.close(holdingId);
    return new Trade(order, balance);
  }

  /** The second transaction of an order: a new price, and the shares as volume. */
  public void changePrice(Population population, int symbol, int quantity) throws RefusedException {
    QuoteEntity quote = entities.find(QuoteEntity.class, symbol, PESSIMISTIC_WRITE);
    if (quote == null) {
      throw noQuote(symbol);
    }
    quote.change(population, quantity);
  }

  /** The number that a query selects. */
  public long number(String query) {
    return ((Number) entities.createNativeQuery(query).getSingleResult()).longValue();
  }

  /** Reads an account. */
  @TransactionAttribute(TransactionAttributeType.NOT_SUPPORTED)
  public Account account(long user) throws RefusedException {
    AccountEntity account = entities.find(AccountEntity.class, user);
    if (account == null) {
      throw unknown(user);
    }
    return account.account();
  }

  /** Reads a profile. */
  @TransactionAttribute(TransactionAttributeType.NOT_SUPPORTED)
  public Profile profile(long user) throws RefusedException {
    ProfileEntity profile = entities.find(ProfileEntity.class, user);
    if (profile == null) {
      throw unknown(user);
    }
    return profile.profile();
  }

  /** The orders with the highest ids, highest first. */
  @TransactionAttribute(TransactionAttributeType.NOT_SUPPORTED)
  public List<Order> lastOrders(long user, int most) {
    return entities
        .createQuery(
            "SELECT o FROM OrderEntity o WHERE o.user = :user ORDER BY o.id DESC",
            OrderEntity.class)
        .setParameter("user", user)
        .setMaxResults(most)
        .getResultStream()
        .map(OrderEntity::order)
        .toList();
  }

  /** The holdings by ascending id. */
  @TransactionAttribute(TransactionAttributeType.NOT_SUPPORTED)
  public List<Holding> holdings(long user) {
    return entities
        .createQuery(
            "SELECT h FROM HoldingEntity h WHERE h.user = :user ORDER BY h.id", HoldingEntity.class)
        .setParameter("user", user)
        .getResultStream()
        .map(HoldingEntity::holding)
        .toList();
  }

  /** Reads quotes, in the order of the symbols. */
  @TransactionAttribute(TransactionAttributeType.NOT_SUPPORTED)
  public List<Quote> quotes(List<Integer> symbols) throws RefusedException {
    List<Quote> found = new ArrayList<>(symbols.size());
    for (int symbol : symbols) {
      found.add(find(symbol).quote());
    }
    return found;
  }

  /**
   * The quotes that moved most.
   *
   * @param rose whether those that rose most, or those that fell most
   */
  @TransactionAttribute(TransactionAttributeType.NOT_SUPPORTED)
  public List<Quote> moved(boolean rose) {
    String direction = rose ? "DESC" : "ASC";
    return entities
        .createQuery(
            "SELECT q FROM QuoteEntity q ORDER BY q.price - q.opened " + direction,
            QuoteEntity.class)
        .setMaxResults(MOST_MOVED)
        .getResultStream()
        .map(QuoteEntity::quote)
        .toList();
  }

  private static Order order(long id, boolean isSell, Quote quote, int quantity, long holding) {
    return new Order(
        id, isSell, quote.symbol(), quantity, quote.price(), quote.changes(), Order.FEE, holding);
  }

  private AccountEntity lockAccount(long user) throws RefusedException {
    AccountEntity account = entities.find(AccountEntity.class, user, PESSIMISTIC_WRITE);
    if (account == null) {
      throw unknown(user);
    }
    return account;
  }

  private QuoteEntity find(int symbol) throws RefusedException {
    QuoteEntity quote = entities.find(QuoteEntity.class, symbol);
    if (quote == null) {
      throw noQuote(symbol);
    }
    return quote;
  }

  private static RefusedException noQuote(int symbol) {
    return new RefusedException(Status.NOT_FOUND, "there is no quote " + symbol);
  }

  private static RefusedException unknown(long user) {
    return new RefusedException(Status.UNAUTHORIZED, "user " + user + " is unknown");
  }
}
