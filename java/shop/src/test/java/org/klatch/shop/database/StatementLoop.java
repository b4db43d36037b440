package org.klatch.shop.database;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import org.klatch.shop.Brokerage;
import org.klatch.shop.Holding;
import org.klatch.shop.Population;
import org.klatch.shop.RefusedException;
import org.klatch.web.ApplicationOptions;
import org.klatch.web.Logging;

/**
 * The statements of workload trade in a loop, without HTTP and JSON: what the database alone costs.
 * Prints CPU µs per operation of this process for each of some periods.
 *
 * <p>Arguments: JDBC URL, threads, seconds of a period, number of periods.
 */
public final class StatementLoop {
  private static final int USERS = 5_000;
  private static final int QUOTES = 1_000;

  private final Brokerage brokerage;
  private final int firstUser;
  private final int users;
  private final Random random;
  private final AtomicLong operations = new AtomicLong();
  private volatile boolean stops;

  private StatementLoop(Brokerage brokerage, int firstUser, int users) {
    this.brokerage = brokerage;
    this.firstUser = firstUser;
    this.users = users;
    random = new Random(firstUser);
  }

  /** Runs the loop. */
  public static void main(String[] args) throws Exception {
    Logging.warningsOnly();
    int threads = Integer.parseInt(args[1]);
    ApplicationOptions options =
        new ApplicationOptions(args[0], "", "", USERS, QUOTES, 1, 1, 16, true, true);
    ((AutoCloseable) new TradeApplication().open(options)).close();
    Database database = new Database(options);
    Brokerage brokerage = new JdbcBrokerage(database, new Population(1, USERS, QUOTES));
    List<StatementLoop> loops = new ArrayList<>();
    List<Thread> running = new ArrayList<>();
    for (int i = 0; i < threads; i++) {
      int each = USERS / threads;
      StatementLoop loop = new StatementLoop(brokerage, i * each, each);
      loops.add(loop);
      running.add(new Thread(loop::run));
    }
    running.forEach(Thread::start);
    var process = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    for (int period = 0; period < Integer.parseInt(args[3]); period++) {
      long cpuNs = process.getProcessCpuTime();
      long before = loops.stream().mapToLong(loop -> loop.operations.get()).sum();
      Thread.sleep(Long.parseLong(args[2]) * 1000); // the period is what is measured
      long made = loops.stream().mapToLong(loop -> loop.operations.get()).sum() - before;
      double cpuUs = (process.getProcessCpuTime() - cpuNs) / 1e3;
      System.out.printf("%d operations, %.1f us CPU each%n", made, cpuUs / made);
    }
    loops.forEach(loop -> loop.stops = true);
    for (Thread thread : running) {
      thread.join();
    }
    brokerage.close();
  }

  private void run() {
    List<Integer> deck = new ArrayList<>();
    try {
      while (!stops) {
        long user = (long) firstUser + random.nextInt(users);
        brokerage.login(user, Schema.PASSWORD);
        operations.incrementAndGet();
        boolean inSession = true;
        while (inSession && !stops) {
          if (deck.isEmpty()) {
            deck.addAll(cards());
            Collections.shuffle(deck, random);
          }
          int card = deck.remove(deck.size() - 1);
          inSession = operation(card, user);
          operations.incrementAndGet();
        }
      }
    } catch (RefusedException e) {
      throw new IllegalStateException(e);
    }
  }

  /** The standard mix: 100 cards, each the first letter of its operation; x is a logout. */
  private static List<Integer> cards() {
    List<Integer> cards = new ArrayList<>();
    int[][] counts = {
      {'h', 20}, {'q', 40}, {'x', 6}, {'a', 10}, {'p', 12}, {'b', 4}, {'s', 4}, {'u', 4}
    };
    for (int[] one : counts) {
      cards.addAll(Collections.nCopies(one[1], one[0]));
    }
    return cards;
  }

  private boolean operation(int card, long user) throws RefusedException {
    switch (card) {
      case 'h' -> {
        brokerage.holdings(user);
        brokerage.market();
        brokerage.account(user);
      }
      case 'q' -> brokerage.quotes(symbols());
      case 'x' -> brokerage.logout(user);
      case 'a' -> account(user);
      case 'p' -> portfolio(user);
      case 'b' -> {
        List<Integer> symbols = symbols();
        brokerage.quotes(symbols);
        brokerage.buy(user, symbols.get(0), 1 + random.nextInt(200));
      }
      case 's' -> {
        List<Holding> holdings = portfolio(user);
        if (holdings.isEmpty()) {
          brokerage.buy(user, random.nextInt(QUOTES), 1 + random.nextInt(200));
        } else {
          brokerage.sell(user, holdings.get(random.nextInt(holdings.size())).id());
        }
      }
      default -> {
        account(user);
        brokerage.update(user, "0 Street " + user, user + ".0@klatch", "card-" + user + "-0");
      }
    }
    return card != 'x';
  }

  private void account(long user) throws RefusedException {
    brokerage.account(user);
    brokerage.profile(user);
    brokerage.lastOrders(user, 5);
  }

  private List<Holding> portfolio(long user) throws RefusedException {
    List<Holding> holdings = brokerage.holdings(user);
    brokerage.quotes(holdings.stream().map(Holding::symbol).distinct().toList());
    return holdings;
  }

  private List<Integer> symbols() {
    return random.ints(1 + random.nextInt(10), 0, QUOTES).boxed().toList();
  }
}
