package org.klatch.shop.orders.database;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.klatch.exchange.web.Reply;
import org.klatch.exchange.web.Request;
import org.klatch.exchange.web.Responder;
import org.klatch.web.ApplicationOptions;
import org.klatch.web.Logging;

/** What every database must do, whichever test uses it. */
final class Rules {
  static {
    Logging.warningsOnly();
  }

  private static final int THREADS = 8;
  private static final int CUSTOMERS = 75;
  private static final int ASSEMBLIES = 100;
  private static final long DURATION_NS = 1_000_000_000;
  private static final Pattern ID = Pattern.compile("\"(?:order|work_order|purchase)\":(\\d+)");

  private Rules() {}

  static ApplicationOptions options(String url) {
    return new ApplicationOptions(url, "", "", 1, 1, 1, 1, THREADS, true, true);
  }

  /** Sends a request. Returns the status and the body of the reply. */
  static String send(Responder site, String method, String target, String body) {
    String[] parts = ("/orders/" + target).split("\\?", 2);
    String query = parts.length > 1 ? parts[1] : null;
    Reply reply = site.reply(new Request(method, parts[0], query, null, body, "127.0.0.1"));
    return reply.status().code() + " " + new String(reply.body(), ISO_8859_1);
  }

  static String post(Responder site, String target, String body) {
    return send(site, "POST", target, body);
  }

  /** Sends a request that must be served. */
  static String served(Responder site, String method, String target, String body) {
    String reply = send(site, method, target, body);
    assertTrue(reply.startsWith("200 "), reply);
    return reply;
  }

  /** The ids of a reply, in its order. */
  static List<Long> ids(String reply) {
    Matcher matcher = ID.matcher(reply);
    return matcher.results().map(match -> Long.parseLong(match.group(1))).toList();
  }

  /**
   * Works in several threads for a second, with customers and components that they share. Returns
   * the result of the audit.
   */
  static String work(OrdersApplication application, String url) throws Exception {
    Responder site = application.open(options(url));
    ExecutorService threads = Executors.newFixedThreadPool(THREADS);
    long endNs = System.nanoTime() + DURATION_NS;
    List<Future<Integer>> all = new ArrayList<>();
    for (int i = 0; i < THREADS; i++) {
      all.add(threads.submit((Callable<Integer>) () -> operations(site, endNs)));
    }
    int made = 0;
    for (Future<Integer> one : all) {
      made += one.get();
    }
    threads.shutdown();
    assertTrue(made > 2 * THREADS, made + " operations");
    assertTrue(ids(served(site, "GET", "purchases?supplier=0&of=1", "")).size() <= 20);
    ((AutoCloseable) site).close();
    return application.audit(options(url));
  }

  /** Enters, changes and cancels orders, and makes and delivers. Returns the number of rounds. */
  private static int operations(Responder site, long endNs) {
    int made = 0;
    while (System.nanoTime() < endNs || made < 3) {
      ThreadLocalRandom random = ThreadLocalRandom.current();
      int customer = random.nextInt(CUSTOMERS);
      int low = random.nextInt(ASSEMBLIES);
      int high = random.nextInt(ASSEMBLIES);
      String lines = low + ":" + (1 + random.nextInt(10)) + "," + high + ":2," + low + ":3";
      String entered = served(site, "POST", "new", "customer=" + customer + "&lines=" + lines);
      if (!entered.contains("refused")) {
        String order = "customer=" + customer + "&order=" + ids(entered).get(0);
        String changed = order + "&lines=" + low + ":4," + high + ":5," + low + ":6";
        served(site, "POST", "change", changed);
        served(site, "GET", "order?" + order, "");
        if (made % 3 == 0) {
          served(site, "POST", "cancel", order);
        }
      }
      String large = "customer=" + customer + "&lines=" + low + ":30," + high + ":31";
      String reply = served(site, "POST", "new", large);
      Matcher workOrders = Pattern.compile("\"work_orders\":\\[(\\d+),(\\d+)\\]").matcher(reply);
      if (workOrders.find()) {
        make(site, post(site, "schedule", "work_order=" + workOrders.group(1)));
      }
      make(site, post(site, "plan", "assembly=" + high + "&quantity=7"));
      for (long id : ids(served(site, "GET", "purchases?supplier=0&of=1", ""))) {
        String delivered = post(site, "deliver", "purchase=" + id);
        assertTrue(delivered.startsWith("200 ") || delivered.contains("already"), delivered);
      }
      made++;
    }
    return made;
  }

  /** Completes the work order of a reply, unless a component was short. */
  private static void make(Responder site, String reply) {
    boolean isShort = reply.startsWith("409 ") && reply.contains("is short");
    assertTrue(isShort || reply.startsWith("200 "), reply);
    for (int state = 2; !isShort && state <= 4; state++) {
      String body = "work_order=" + ids(reply).get(0) + "&state=" + state;
      String advanced = served(site, "POST", "advance", body);
      assertTrue(advanced.contains("\"state\":" + state), advanced);
    }
  }

  static void isClean(String audit) {
    assertTrue(audit.contains("\"broken\":[],"), audit);
    assertEquals(CUSTOMERS, audit.split("\\],\\[", -1).length, audit);
  }
}
