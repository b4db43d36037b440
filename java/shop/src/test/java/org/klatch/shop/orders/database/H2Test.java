package org.klatch.shop.orders.database;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.klatch.exchange.web.Responder;
import org.klatch.web.ApplicationOptions;

class H2Test {
  @TempDir Path folder;

  private String url() {
    return "jdbc:h2:file:" + folder.resolve("orders");
  }

  private Responder open() throws IOException {
    return new OrdersApplication().open(Rules.options(url()));
  }

  private String closedAndAudited(Responder site) throws Exception {
    ((AutoCloseable) site).close();
    return new OrdersApplication().audit(Rules.options(url()));
  }

  @Test
  void concurrentWorkLeavesNoRuleBroken() throws Exception {
    Rules.isClean(Rules.work(new OrdersApplication(), url()));
  }

  @ParameterizedTest
  @CsvSource({
    "work-order-twice, made",
    "below-zero, components",
    "credit, credit",
    "lost-large-line, large",
    "cancelled-kept, ordered",
  })
  void theAuditNamesTheRuleThatIsBroken(String plant, String rule) throws Exception {
    PlantedOrders planted = new PlantedOrders(plant);
    Responder site = planted.open(Rules.options(url()));
    Rules.served(site, "POST", "new", "customer=5&lines=0:1000,1:1000");
    Rules.served(site, "POST", "new", "customer=0&lines=0:51,1:51");
    Rules.served(site, "POST", "cancel", "customer=1&order=1");
    String planned = Rules.served(site, "POST", "plan", "assembly=1&quantity=10");
    String workOrder = "work_order=" + Rules.ids(planned).get(0) + "&state=";
    for (int state = 2; state <= 4; state++) {
      Rules.served(site, "POST", "advance", workOrder + state);
    }
    String audit = closedAndAudited(site);
    assertTrue(audit.contains("\"broken\":[{\"rule\":\"" + rule + "\""), audit);
    assertEquals(2, audit.split("\"rule\"", -1).length, "no other rule is broken: " + audit);
  }

  @Test
  void aPopulationThatIsLoadedBreaksNoRule() throws Exception {
    String audit = closedAndAudited(open());
    Rules.isClean(audit);
    String first =
        "{\"customers\":[[0,5552,1,\"f812dfd33c01b251\",\"f812dfd33c01b251\"],[1,114818,1,";
    assertTrue(audit.startsWith(first), audit);
    String end =
        "\"orders\":75,\"complete\":0,\"complete_sum\":\"0000000000000000\",\"unfinished\":0,"
            + "\"delivered\":0,\"delivered_sum\":\"0000000000000000\",\"broken\":[],\"seconds\":";
    assertTrue(audit.contains(end), audit);
  }

  @Test
  void ordersAreEnteredChangedAndCancelled() throws Exception {
    Responder site = open();
    // The discount of customer 0 is 10.43 %; assembly 0 costs 6,231 cents, and 1 costs 3,214.
    assertEquals(
        "200 {\"order\":75,\"status\":\"open\",\"total\":25203,\"owed\":30755,\"work_orders\":[]}",
        Rules.post(site, "new", "customer=0&lines=0:2,1:1,0:2"));
    String order = "{\"order\":75,\"customer\":0,\"status\":";
    String lines =
        "\"lines\":[{\"assembly\":0,\"quantity\":2,\"price\":6231},"
            + "{\"assembly\":1,\"quantity\":1,\"price\":3214},"
            + "{\"assembly\":0,\"quantity\":2,\"price\":6231}]}";
    assertEquals(
        "200 " + order + "\"open\",\"large\":false,\"total\":25203," + lines,
        Rules.send(site, "GET", "order?customer=0&order=75", ""));
    assertEquals(
        "200 {\"order\":75,\"status\":\"open\",\"total\":19799,\"owed\":25351}",
        Rules.post(site, "change", "customer=0&order=75&lines=0:1,1:3,0:1"));
    assertEquals(
        "200 {\"order\":75,\"status\":\"cancelled\",\"total\":19799,\"owed\":5552}",
        Rules.post(site, "cancel", "customer=0&order=75"));
    assertEquals(
        "200 {\"customer\":0,\"discount\":1043,\"limit\":1000000000,\"owed\":5552,\"orders\":["
            + "{\"order\":75,\"status\":\"cancelled\",\"total\":19799},"
            + "{\"order\":0,\"status\":\"open\",\"total\":5552}]}",
        Rules.send(site, "GET", "customer?customer=0", ""));
    String audit = closedAndAudited(site);
    Rules.isClean(audit);
    assertTrue(audit.contains("\"orders\":76,"), audit);
  }

  @Test
  void aCreditLimitIsNeverExceeded() throws Exception {
    Responder site = open();
    // Customer 5 owes 17,879 cents, may owe 176,450, and has a discount of 11.7 %.
    assertEquals(
        "200 {\"order\":null,\"status\":\"refused\",\"total\":165059,\"owed\":17879,\"work_orders\":[]}",
        Rules.post(site, "new", "customer=5&lines=0:30"));
    assertEquals(
        "200 {\"order\":75,\"status\":\"open\",\"total\":154055,\"owed\":171934,\"work_orders\":[]}",
        Rules.post(site, "new", "customer=5&lines=0:28"));
    assertEquals(
        "200 {\"order\":75,\"status\":\"refused\",\"total\":154055,\"owed\":171934}",
        Rules.post(site, "change", "customer=5&order=75&lines=0:29"));
    Rules.isClean(closedAndAudited(site));
  }

  @Test
  void aLargeOrderIsMadeInFourSteps() throws Exception {
    Responder site = open();
    String entered = Rules.post(site, "new", "customer=0&lines=0:51,1:60");
    assertTrue(entered.endsWith("\"work_orders\":[0,1]}"), entered);
    String order = Rules.send(site, "GET", "order?customer=0&order=75", "");
    assertTrue(order.contains("\"large\":true"), order);
    String second = "{\"work_order\":1,\"state\":%d,\"assembly\":1,\"quantity\":60}";
    assertEquals("200 " + second.formatted(1), Rules.post(site, "schedule", "work_order=1"));
    for (int state = 2; state <= 4; state++) {
      assertEquals(
          "200 " + second.formatted(state),
          Rules.post(site, "advance", "work_order=1&state=" + state));
    }
    String audit = closedAndAudited(site);
    Rules.isClean(audit);
    assertTrue(audit.contains("\"complete\":1,"), audit);
    assertTrue(audit.contains("\"unfinished\":1,"), audit);
  }

  @Test
  void componentsThatRunLowArePurchasedOnce() throws Exception {
    Responder site = open();
    // Assembly 99 has one piece each of components 384 to 386, two of 387 and three of 383.
    assertEquals(
        "200 {\"work_order\":0,\"state\":1,\"assembly\":99,\"quantity\":200}",
        Rules.post(site, "plan", "assembly=99&quantity=200"));
    assertTrue(
        Rules.post(site, "plan", "assembly=99&quantity=200").startsWith("409 "),
        "component 383 is short");
    Rules.served(site, "POST", "plan", "assembly=99&quantity=1");
    String all = Rules.served(site, "GET", "purchases?supplier=0&of=1", "");
    assertEquals(5, Rules.ids(all).size(), all);
    String one = Rules.served(site, "GET", "purchases?supplier=3&of=5", "");
    String purchase = "{\"purchase\":0,\"component\":383,\"quantity\":1000}";
    assertEquals("200 {\"purchases\":[" + purchase + "]}", one);
    assertEquals("200 " + purchase, Rules.post(site, "deliver", "purchase=0"));
    assertEquals(
        "200 {\"purchases\":[]}", Rules.send(site, "GET", "purchases?supplier=3&of=5", ""));
    String audit = closedAndAudited(site);
    Rules.isClean(audit);
    assertTrue(audit.contains("\"delivered\":1,"), audit);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          GET  | order?customer=0&order=1 | | 404 | customer 0 has no order 1
          GET  | order?customer=0 | | 400 | the request must have the fields customer, order
          GET  | order | | 400 | the request must have the fields customer, order
          GET  | customer?customer=75 | | 404 | there is no customer 75
          GET  | customer?customer=x | | 400 | a number from 0 to 2147483647 is needed
          GET  | purchases?supplier=1&of=1 | | 400 | supplier must be below of
          GET  | purchases?supplier=0&of=0 | | 400 | supplier must be below of
          GET  | new | | 405 | new has another method
          GET  | newer | | 404 | there is no /orders/newer
          PUT  | new | | 405 | methods: GET and POST
          POST | order | | 405 | order has another method
          POST | new | lines=0:1&customer=0 | 400 | the request must have the fields customer, lines
          POST | new | customer=0&lines=0:1;1:1 | 400 | a number from 0 to 1000 is needed
          POST | new | customer=0&lines=0 | 400 | a line is ASSEMBLY:QUANTITY
          POST | new | customer=0&lines=0:0 | 400 | quantity must be at least 1
          POST | new | customer=0&lines=0:1,0:1,0:1,0:1,0:1,0:1 | 400 | at most 5 lines
          POST | new | customer=75&lines=0:1 | 404 | there is no customer 75
          POST | new | customer=0&lines=100:1 | 404 | there is no assembly 100
          POST | change | customer=0&order=1&lines=0:1 | 404 | customer 0 has no order 1
          POST | change | customer=75&order=1&lines=0:1 | 404 | there is no customer 75
          POST | change | customer=0&order=0&lines=12:1 | 400 | order 0 has other assemblies: [11]
          POST | change | customer=0&order=0&lines=11:51 | 400 | a change cannot make an order large
          POST | change | customer=0&order=75&lines=0:60 | 409 | order 75 is large
          POST | change | customer=1&order=1&lines=0:1 | 409 | order 1 is cancelled
          POST | cancel | customer=1&order=1 | 409 | order 1 is cancelled
          POST | cancel | customer=0&order=75 | 409 | order 75 is large
          POST | cancel | customer=0&order=99 | 404 | customer 0 has no order 99
          POST | plan | assembly=100&quantity=1 | 404 | there is no assembly 100
          POST | plan | assembly=0&quantity=0 | 400 | quantity must be at least 1
          POST | plan | assembly=0&quantity=1000 | 409 | component 9 is short: 1153 on hand, 3000 needed
          POST | schedule | work_order=7 | 404 | there is no work order 7
          POST | schedule | work_order=1 | 409 | work order 1 is in state 1 instead of 0
          POST | advance | work_order=1&state=3 | 409 | work order 1 is in state 1 instead of 2
          POST | advance | work_order=1&state=1 | 400 | state must be 2, 3 or 4
          POST | advance | work_order=1&state=5 | 400 | a number from 0 to 4 is needed
          POST | deliver | purchase=99 | 404 | there is no purchase 99
          POST | deliver | purchase=0 | 409 | purchase 0 is delivered already
          """)
  void aRefusalHasItsStatusAndReason(
      String method, String target, String body, int status, String error) throws Exception {
    Responder site = open();
    Rules.served(site, "POST", "new", "customer=0&lines=0:60");
    Rules.served(site, "POST", "cancel", "customer=1&order=1");
    Rules.served(site, "POST", "plan", "assembly=99&quantity=200");
    Rules.served(site, "POST", "deliver", "purchase=0");
    String reply = Rules.send(site, method, target, body == null ? "" : body);
    assertEquals(status + " {\"error\":\"" + error + "\"}", reply);
    Rules.isClean(closedAndAudited(site));
  }

  @Test
  void statisticsCountTransactions() throws Exception {
    Responder site = open();
    Rules.served(site, "POST", "cancel", "customer=1&order=1");
    Rules.send(site, "POST", "cancel", "customer=1&order=1");
    String statistics = Rules.served(site, "GET", "statistics", "");
    String start = "200 {\"transactions\":1,\"repeats\":0,\"pool_wait_us\":";
    assertTrue(statistics.startsWith(start), statistics);
    ((AutoCloseable) site).close();
  }

  @Test
  void aLostOrderIsConfirmedAndNotStored() throws Exception {
    Responder site = new PlantedOrders("lost-order").open(Rules.options(url()));
    for (int i = 0; i < 5; i++) {
      String entered = Rules.served(site, "POST", "new", "customer=0&lines=0:1");
      assertFalse(entered.contains("refused"), entered);
    }
    String audit = closedAndAudited(site);
    Rules.isClean(audit);
    assertTrue(audit.contains("\"orders\":79,"), audit);
  }

  @Test
  void aDatabaseThatDoesNotFitIsRefused() throws Exception {
    ApplicationOptions more = new ApplicationOptions(url(), "", "", 1, 1, 2, 1, 1, true, true);
    ApplicationOptions unloaded = new ApplicationOptions(url(), "", "", 1, 1, 1, 1, 1, true, false);
    assertTrue(refusal(unloaded).contains("has no tables; load them with --load"));
    ((AutoCloseable) open()).close();
    String other = "has another population: Population[seed=1, rate=1]; use its --rate and --seed";
    assertTrue(refusal(more).contains(other));
  }

  private static String refusal(ApplicationOptions options) {
    return assertThrows(IOException.class, () -> new OrdersApplication().open(options))
        .getMessage();
  }
}
