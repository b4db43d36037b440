package org.klatch.shop.database;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import org.klatch.exchange.web.Reply;
import org.klatch.exchange.web.Request;
import org.klatch.exchange.web.Responder;
import org.klatch.web.ApplicationOptions;
import org.klatch.web.Logging;

/** What every database must do, whoever tests it. */
final class Rules {
  static {
    Logging.warningsOnly();
  }

  private static final int THREADS = 8;
  private static final int USERS = 10;
  private static final int ORDERS = 150;

  private Rules() {}

  static ApplicationOptions options(String url) {
    return new ApplicationOptions(url, "", "", USERS, 30, 1, 1, THREADS, true, true);
  }

  /** Sends a request, with a user's cookie if {@code user} is not negative. */
  static Reply send(Responder site, String method, String target, long user, String body) {
    String[] parts = ("/trade/" + target).split("\\?", 2);
    String query = parts.length > 1 ? parts[1] : null;
    String cookie = user < 0 ? null : "user=" + user;
    return site.reply(new Request(method, parts[0], query, cookie, body, "127.0.0.1"));
  }

  static String text(Reply reply) {
    return reply.status().code()
        + " "
        + new String(reply.body(), java.nio.charset.StandardCharsets.ISO_8859_1);
  }

  /**
   * Buys and sells in several threads, in accounts that they share. Returns what the audit says.
   */
  static String trade(TradeApplication application, String url) throws Exception {
    Responder site = application.open(options(url));
    ExecutorService threads = Executors.newFixedThreadPool(THREADS);
    List<Future<Integer>> all = new ArrayList<>();
    for (int i = 0; i < THREADS; i++) {
      all.add(threads.submit((Callable<Integer>) () -> orders(site)));
    }
    int made = 0;
    for (Future<Integer> one : all) {
      made += one.get();
    }
    threads.shutdown();
    assertTrue(made > THREADS * ORDERS / 2, made + " orders");
    ((AutoCloseable) site).close();
    return application.audit(options(url));
  }

  private static int orders(Responder site) {
    int made = 0;
    for (int i = 0; i < ORDERS; i++) {
      int user = ThreadLocalRandom.current().nextInt(USERS);
      String portfolio = text(send(site, "GET", "portfolio", user, ""));
      int at = portfolio.indexOf("{\"holding\":");
      Reply reply;
      if (i % 2 == 0 || at < 0) {
        reply = send(site, "POST", "buy", user, "symbol=" + i % 30 + "&quantity=" + (i % 200 + 1));
      } else {
        String holding = portfolio.substring(at + 11, portfolio.indexOf(',', at));
        reply = send(site, "POST", "sell", user, "holding=" + holding);
      }
      // Another thread may have sold the holding.
      boolean isGone = reply.status().code() == 404 && text(reply).contains("has no holding");
      assertTrue(isGone || reply.status().code() == 200, text(reply));
      made += isGone ? 0 : 1;
    }
    return made;
  }

  static void isClean(String audit) {
    assertTrue(audit.contains("\"broken\":[],"), audit);
    assertEquals(USERS, audit.split("\\],\\[", -1).length, audit);
  }
}
