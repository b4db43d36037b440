package org.klatch.exchange.web;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The replies of a site, request by request. */
class SiteTest {
  private static final String FORM = "urlroot=/file_set/&dir=11&class=1&num=2&client=3";
  private static final String COOKIE = "my_cookie=user_id=10005&last_ad=17";

  private final Site site = new Site(new SiteOptions(7, 12));
  private final ExpectedSite expected = new ExpectedSite(7);

  private static String path(int sizeClass) {
    return new FileId(11, sizeClass, 2).path();
  }

  private Reply ask(String method, String target, String cookie, String body) {
    String[] parts = target.split("\\?", 2);
    String query = parts.length > 1 ? parts[1] : null;
    return site.reply(new Request(method, parts[0], query, cookie, body, "10.0.0.1"));
  }

  private Reply get(String target) {
    return ask("GET", target, null, "");
  }

  private static String text(Reply reply) {
    assertEquals(Status.OK, reply.status());
    return new String(reply.body(), ISO_8859_1);
  }

  private static String page(String script, String query, String content) {
    String end = "\n</pre>\n</body></html>\n";
    return ExpectedSite.frame("10.0.0.1", script, query) + content + end;
  }

  @Test
  void everyClassIsServedAsFileAndPage() {
    for (int sizeClass = 0; sizeClass < 4; sizeClass++) {
      String path = path(sizeClass);
      String file = expected.file(path);
      assertEquals(file, text(get(path)));
      assertEquals(page("/dynamic", path, file), text(get("/dynamic?" + path)));
      assertEquals(page("/cgi", path, file), text(get("/cgi?" + path)));
      assertNull(get("/dynamic?" + path).setCookie());
    }
  }

  @Test
  void aFileIsComputedOnceAndShared() {
    assertSame(get(path(2)).body(), get(path(2)).body());
  }

  @Test
  void aUsersPageShowsTheAdThatIsChosen() {
    for (int sizeClass = 0; sizeClass < 4; sizeClass++) {
      String path = path(sizeClass);
      Reply reply = ask("GET", "/dynamic?" + path, "a=b; " + COOKIE, "");
      assertEquals(page("/dynamic", path, expected.fileWithAds(path, 5, 17)), text(reply));
      assertEquals(expected.adCookie(5, 17), reply.setCookie());
    }
  }

  @Test
  void anUnknownUsersPageShowsTheStoredAds() {
    String cookie = "my_cookie=user_id=11000&last_ad=0";
    Reply reply = ask("GET", "/dynamic?" + path(1), cookie, "");
    assertEquals(page("/dynamic", path(1), expected.file(path(1))), text(reply));
    assertEquals(AdChoice.NONE.cookie(), reply.setCookie());
  }

  @Test
  void onlyTheStandardPageHasAds() {
    assertNull(ask("GET", "/cgi?" + path(1), COOKIE, "").setCookie());
    Reply other = ask("GET", "/dynamic?" + path(1), "other=1", "");
    assertEquals(page("/dynamic", path(1), expected.file(path(1))), text(other));
  }

  @Test
  void aPostIsLoggedAndAnsweredWithItsFile() {
    Reply reply = ask("POST", "/dynamic", COOKIE, FORM);
    assertEquals(page("/dynamic", "", expected.file(path(1))), text(reply));
    assertEquals("my_cookie=10005", reply.setCookie());
    String record =
        "         1 1000000000          0    11  1  2          3 %-60s          0      10005\n"
            .formatted(path(1));
    String log = page("/dynamic", "command/Fetch", "         1\n" + record);
    assertEquals(log, text(get("/dynamic?command/Fetch")));
  }

  @Test
  void aResetReplacesTheTablesAndEmptiesTheLog() {
    text(ask("POST", "/dynamic", COOKIE, FORM));
    String query =
        "command/Reset&maxload=3&pttime=1800000000&maxthread=2&exp=-1,-1&urlroot=/file_set/";
    assertEquals(page("/dynamic", query, ""), text(get("/dynamic?" + query)));
    String log = page("/dynamic", "command/Fetch", "         0\n");
    assertEquals(log, text(get("/dynamic?command/Fetch")));
    AdTables tables = new AdTables(7, new TableOptions(6, 1_800_000_000, -1, -1));
    Reply known = ask("GET", "/dynamic?" + path(1), COOKIE, "");
    assertEquals(tables.choose(5, 17).cookie(), known.setCookie());
    Reply unknown = ask("GET", "/dynamic?" + path(1), "my_cookie=user_id=10006&last_ad=17", "");
    assertEquals(AdChoice.NONE.cookie(), unknown.setCookie());
  }

  @Test
  void refusedPostsAreNotLogged() {
    assertEquals(Status.BAD_REQUEST, ask("POST", "/dynamic", null, FORM).status());
    assertEquals(Status.BAD_REQUEST, ask("POST", "/dynamic", "my_cookie=1", FORM).status());
    assertEquals(Status.BAD_REQUEST, ask("POST", "/dynamic", COOKIE, "").status());
    String large = FORM + "&x=" + "x".repeat(Request.BODY_BYTES_MAX);
    assertEquals(Status.CONTENT_TOO_LARGE, ask("POST", "/dynamic", COOKIE, large).status());
    String outside = FORM.replace("dir=11", "dir=12");
    assertEquals(Status.NOT_FOUND, ask("POST", "/dynamic", COOKIE, outside).status());
    String log = page("/dynamic", "command/Fetch", "         0\n");
    assertEquals(log, text(get("/dynamic?command/Fetch")));
  }

  @ParameterizedTest
  @CsvSource({
    "404, GET, /",
    "404, GET, /file_set/dir00012/class0_0",
    "404, GET, /dynamic?/file_set/dir00012/class0_0",
    "404, GET, /cgi?/file_set/dir00012/class3_0",
    "404, GET, /dynamic?command/Other",
    "404, GET, /file_set/../etc/passwd",
    "405, POST, /file_set/dir00000/class0_0",
    "405, HEAD, /file_set/dir00000/class0_0",
    "405, GET, /dynamic",
    "405, POST, /dynamic?command/Fetch",
    "501, BREW, /"
  })
  void wrongRequestsHaveTheirStatus(int status, String method, String target) {
    Reply reply = ask(method, target, null, "");
    assertEquals(status, reply.status().code());
    String allowed = target.equals("/dynamic") ? "POST" : "GET";
    assertEquals(status == 405 ? allowed : null, reply.allow());
    String phrase = status + " " + reply.status().reason() + "\n";
    assertEquals(phrase, new String(reply.body(), ISO_8859_1));
  }

  @Test
  void aMalformedCookieIsRefused() {
    Reply reply = ask("GET", "/dynamic?" + path(1), "my_cookie=user_id=1", "");
    assertEquals(Status.BAD_REQUEST, reply.status());
  }
}
