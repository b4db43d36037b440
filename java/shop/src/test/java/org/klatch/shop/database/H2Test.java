package org.klatch.shop.database;

import static org.junit.jupiter.api.Assertions.assertEquals;
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
    return "jdbc:h2:file:" + folder.resolve("trade");
  }

  @Test
  void concurrentOrdersOfSharedAccountsLeaveNoRuleBroken() throws Exception {
    Rules.isClean(Rules.trade(new TradeApplication(), url()));
  }

  @ParameterizedTest
  @CsvSource({
    "double-sale, shares",
    "no-fee, money",
    "price, prices",
  })
  void theAuditNamesTheRuleThatIsBroken(String plant, String rule) throws Exception {
    String audit = Rules.trade(new PlantedApplication(plant), url());
    assertTrue(audit.contains("{\"rule\":\"" + rule + "\""), audit);
  }

  @Test
  void eachRequestHasItsReplyAndEachRefusalItsReason() throws Exception {
    Responder site = new TradeApplication().open(Rules.options(url()));
    String account = "\"balance\":100000000,\"open_balance\":100000000,\"logins\":";
    assertReply(
        site,
        "POST",
        "register",
        -1,
        "user=77&password=xxx&balance=100000000",
        200,
        account + "1,\"logouts\":0}");
    assertReply(
        site,
        "POST",
        "register",
        -1,
        "user=77&password=xxx&balance=1",
        409,
        "user 77 exists already");
    assertReply(site, "POST", "logout", 77, "", 200, account + "1,\"logouts\":1}");
    assertReply(
        site, "POST", "login", -1, "user=77&password=yyy", 401, "unknown, or has another password");
    assertReply(
        site, "POST", "login", -1, "user=77&password=xxx", 200, account + "2,\"logouts\":1}");
    assertReply(site, "GET", "portfolio", 77, "", 200, "{\"holdings\":[]}");
    assertReply(
        site,
        "GET",
        "home",
        77,
        "",
        200,
        "\"holdings\":0,\"cost\":0,\"market\":{\"gainers\":[{\"symbol\":");
    assertReply(site, "GET", "quotes?symbols=3,3", 77, "", 200, "{\"quotes\":[{\"symbol\":3,");
    assertReply(site, "GET", "quotes?symbols=30", 77, "", 404, "there is no quote 30");
    assertReply(
        site, "GET", "quotes?symbols=1,2,3,4,5,6,7,8,9,10,11", 77, "", 400, "at most 10 symbols");
    assertReply(site, "GET", "quotes?symbols=-1", 77, "", 400, "a number from 0");
    assertReply(site, "GET", "quotes", 77, "", 400, "must have the fields symbols");
    assertReply(site, "GET", "account", -1, "", 400, "cookie user is missing");
    assertReply(site, "GET", "account", 78, "", 401, "user 78 is unknown");
    assertReply(site, "POST", "buy", 77, "symbol=1&quantity=0", 400, "no shares");
    assertReply(site, "POST", "buy", 77, "symbol=1&quantity=201", 400, "from 0 to 200");
    assertReply(site, "POST", "buy", 78, "symbol=1&quantity=1", 401, "user 78 is unknown");
    assertReply(
        site,
        "POST",
        "buy",
        77,
        "symbol=1&quantity=2",
        200,
        "\"type\":\"buy\",\"status\":\"closed\"");
    assertReply(site, "POST", "sell", 77, "holding=0", 404, "user 77 has no holding 0");
    assertReply(site, "POST", "sell", 77, "holding=100", 200, "\"type\":\"sell\"");
    assertReply(
        site, "GET", "account", 77, "", 200, "\"orders\":[{\"order\":101,\"type\":\"sell\"");
    assertReply(
        site,
        "POST",
        "update",
        77,
        "address=1 Street 77&email=77.1@klatch&card=card-77-1",
        200,
        "77.1@klatch");
    assertReply(site, "POST", "update", 77, "address=\"&email=&card=", 400, "more than plain text");
    assertReply(site, "GET", "buy", 77, "", 405, "another method");
    assertReply(site, "GET", "b\"uy", 77, "", 404, "there is no /trade/b?uy");
    assertReply(site, "GET", "statistics", -1, "", 200, "\"transactions\":8,\"repeats\":0,");
    ((AutoCloseable) site).close();
  }

  private static void assertReply(
      Responder site,
      String method,
      String target,
      long user,
      String body,
      int status,
      String part) {
    String reply = Rules.text(Rules.send(site, method, target, user, body));
    assertTrue(reply.startsWith(status + " {") && reply.contains(part), reply);
  }

  @Test
  void aDatabaseThatDoesNotFitIsRefused() throws Exception {
    ApplicationOptions right = Rules.options(url());
    ApplicationOptions more = new ApplicationOptions(url(), "", "", 11, 30, 1, 1, 1, true, true);
    ApplicationOptions unloaded =
        new ApplicationOptions(url(), "", "", 10, 30, 1, 1, 1, true, false);
    assertTrue(refusal(unloaded).contains("has no tables; load them with --load"));
    ((AutoCloseable) new TradeApplication().open(right)).close();
    assertTrue(
        refusal(more).contains("has another population: Population[seed=1, users=10, quotes=30]"));
    ApplicationOptions missing = Rules.options("jdbc:h2:file:" + folder.resolve("nowhere"));
    IOException error =
        assertThrows(IOException.class, () -> new TradeApplication().audit(missing));
    assertTrue(
        error.getMessage().startsWith("cannot use the database jdbc:h2:file:"), error.getMessage());
    ApplicationOptions unknown = Rules.options("jdbc:oracle:x");
    assertEquals(
        "cannot use the database jdbc:oracle:x: Failed to get driver instance for"
            + " jdbcUrl=jdbc:oracle:x; check --database, its user, and the password in PGPASSWORD",
        refusal(unknown));
  }

  private static String refusal(ApplicationOptions options) {
    return assertThrows(IOException.class, () -> new TradeApplication().open(options)).getMessage();
  }
}
