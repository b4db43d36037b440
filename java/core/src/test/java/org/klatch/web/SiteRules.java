package org.klatch.web;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.klatch.web.SiteClient.get;
import static org.klatch.web.SiteClient.post;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.klatch.exchange.web.ExpectedSite;
import org.klatch.exchange.web.HttpReply;
import org.klatch.exchange.web.Site;
import org.klatch.exchange.web.SiteOptions;
import org.klatch.server.Server;

/** Rules for every server of workload web: Klatch's own and those of other projects. */
@Timeout(120)
public abstract class SiteRules {
  private static final String SMALL = "/file_set/dir00001/class0_0";
  private static final String LARGE = "/file_set/dir00001/class3_8";
  private static final String CLOSE = "Connection: close\r\n";

  private final ExpectedSite expected = new ExpectedSite(7);
  private Server server;

  /** Starts the server to test. */
  protected abstract Server start(Site site) throws IOException;

  @BeforeEach
  void startServer() throws IOException {
    server = start(new Site(new SiteOptions(7, 2)));
    new Thread(server::run, "test server").start();
  }

  @AfterEach
  void stopServer() throws IOException {
    server.close();
  }

  protected SiteClient connect() throws IOException {
    return new SiteClient(server.port());
  }

  private static void assertPage(String script, String query, String file, HttpReply reply) {
    assertEquals(200, reply.status());
    String end = "\n</pre>\n</body></html>\n";
    String page = ExpectedSite.frame("127.0.0.1", script, query) + file + end;
    assertTrue(
        page.equals(reply.body()), () -> "the page begins: " + reply.body().substring(0, 300));
  }

  @Test
  void everyKindOfRequestHasItsReplyOnOneConnection() throws IOException {
    try (SiteClient client = connect()) {
      for (int sizeClass = 0; sizeClass < 4; sizeClass++) {
        String path = "/file_set/dir00001/class" + sizeClass + "_4";
        String file = expected.file(path);
        HttpReply plain = client.ask(get(path));
        assertEquals(200, plain.status());
        assertTrue(file.equals(plain.body()), path);
        assertEquals("text/html", plain.headers().get("content-type").replaceFirst(";.*", ""));
        assertPage("/dynamic", path, file, client.ask(get("/dynamic?" + path)));
        assertPage("/cgi", path, file, client.ask(get("/cgi?" + path)));
        String user = "Cookie: my_cookie=user_id=10005&last_ad=17\r\n";
        HttpReply ads = client.ask(get("/dynamic?" + path, user));
        assertPage("/dynamic", path, expected.fileWithAds(path, 5, 17), ads);
        assertEquals(expected.adCookie(5, 17), ads.headers().get("set-cookie"));
        HttpReply posted = client.ask(post(path, sizeClass, 3));
        assertPage("/dynamic", "", file, posted);
        assertEquals("my_cookie=1000" + sizeClass, posted.headers().get("set-cookie"));
      }
    }
  }

  @Test
  void aCommandEmptiesThePostLog() throws IOException {
    String query =
        "command/Reset&maxload=5&pttime=1800000000&maxthread=1&exp=-86400,86400&urlroot=/file_set/";
    try (SiteClient client = connect()) {
      client.ask(post(SMALL, 0, 0));
      assertPage("/dynamic", query, "", client.ask(get("/dynamic?" + query)));
      assertEquals("         0\n", client.ask(get("/dynamic?command/Fetch")).inFrame());
    }
  }

  @Test
  void postsOfAllConnectionsAreLoggedOnce() throws Exception {
    int posts = 40;
    List<FutureTask<Void>> clients = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      int number = i;
      FutureTask<Void> client = new FutureTask<>(() -> postMany(number, posts));
      new Thread(client, "poster " + i).start();
      clients.add(client);
    }
    for (FutureTask<Void> client : clients) {
      client.get();
    }
    Map<String, Integer> found = new TreeMap<>();
    try (SiteClient client = connect()) {
      String[] lines = client.ask(get("/dynamic?command/Fetch")).inFrame().split("\n", -1);
      assertEquals(4 * posts, Integer.parseInt(lines[0].strip()));
      for (int record = 1; record <= 4 * posts; record++) {
        String[] fields = lines[record].strip().split(" +", -1);
        assertEquals(record, Integer.parseInt(fields[0]));
        found.merge(fields[6] + " " + fields[9], 1, Integer::sum);
      }
    }
    assertEquals(4 * posts, found.size(), "each POST has one record");
  }

  private Void postMany(int number, int posts) throws IOException {
    try (SiteClient client = connect()) {
      for (int user = 0; user < posts; user++) {
        assertEquals(200, client.ask(post(SMALL, user, number)).status());
      }
    }
    return null;
  }

  @Test
  void aRequestOfHttp10ClosesTheConnection() throws IOException {
    for (String path : List.of(SMALL, LARGE)) {
      try (SiteClient client = connect()) {
        HttpReply reply = client.ask("GET " + path + " HTTP/1.0\r\nHost: h\r\n\r\n");
        assertTrue(expected.file(path).equals(reply.body()), path);
        client.expectEnd();
      }
    }
  }

  @Test
  void theLastRequestOfASessionClosesTheConnection() throws IOException {
    try (SiteClient client = connect()) {
      assertEquals(200, client.ask(get(SMALL)).status());
      HttpReply reply = client.ask(get(LARGE, CLOSE));
      assertTrue(expected.file(LARGE).equals(reply.body()));
      client.expectEnd();
    }
  }

  @Test
  void aPipelineIsAnsweredInItsOrder() throws IOException {
    try (SiteClient client = connect()) {
      client.send(get(SMALL) + get("/dynamic?" + LARGE) + post(SMALL, 1, 1) + get(LARGE, CLOSE));
      assertEquals(expected.file(SMALL), client.reply().body());
      assertPage("/dynamic", LARGE, expected.file(LARGE), client.reply());
      assertPage("/dynamic", "", expected.file(SMALL), client.reply());
      assertTrue(expected.file(LARGE).equals(client.reply().body()));
      client.expectEnd();
    }
  }

  @Test
  void aRequestArrivesInPieces() throws IOException {
    String request = post(SMALL, 1, 1);
    try (SiteClient client = connect()) {
      for (int at = 0; at < request.length(); at++) {
        client.send(request.substring(at, at + 1));
      }
      assertPage("/dynamic", "", expected.file(SMALL), client.reply());
    }
  }

  @ParameterizedTest
  @CsvSource({
    "404, GET, /",
    "404, GET, /file_set/dir00002/class0_0",
    "404, GET, /dynamic?/file_set/dir00002/class0_0",
    "404, GET, /dynamic?command/Other",
    "404, GET, /cgi",
    "405, POST, /file_set/dir00001/class0_0",
    "405, GET, /dynamic"
  })
  void aRefusedRequestKeepsTheConnection(int status, String method, String target)
      throws IOException {
    try (SiteClient client = connect()) {
      String request = get(target, method.equals("POST") ? "Content-Length: 0\r\n" : "");
      HttpReply reply = client.ask(request.replaceFirst("GET", method));
      assertEquals(status, reply.status());
      if (status == 405) {
        assertEquals(method.equals("POST") ? "GET" : "POST", reply.headers().get("allow"));
      }
      assertEquals(expected.file(SMALL), client.ask(get(SMALL)).body());
    }
  }

  /** Some servers close a connection after status 400. */
  @ParameterizedTest
  @CsvSource({
    "user_id=10001, user_id=1",
    "my_cookie, other",
    "urlroot, urlrout",
    "class=0, class=4"
  })
  void aWrongCookieOrFormIsRefusedAndNotLogged(String right, String wrong) throws IOException {
    try (SiteClient client = connect()) {
      assertEquals(400, client.ask(post(SMALL, 1, 1).replace(right, wrong)).status());
    }
    try (SiteClient client = connect()) {
      assertEquals("         0\n", client.ask(get("/dynamic?command/Fetch")).inFrame());
    }
  }

  @Test
  void aFormOfMoreThanFourKibIsRefused() throws IOException {
    String form = "x".repeat(4097);
    try (SiteClient client = connect()) {
      HttpReply reply =
          client.ask("POST /dynamic HTTP/1.1\r\nHost: h\r\nContent-Length: 4097\r\n\r\n" + form);
      assertEquals(413, reply.status());
    }
  }
}
