package org.klatch.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.klatch.web.SiteClient.get;

import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.klatch.exchange.web.HttpReply;
import org.klatch.exchange.web.Site;
import org.klatch.exchange.web.SiteService;
import org.klatch.web.SiteClient;
import org.klatch.web.SiteRules;

/** Rules of workload web for every I/O model. */
public abstract class ModelSiteRules extends SiteRules {
  private static final int MIB = 1 << 20;
  private static final String LARGE = "/file_set/dir00001/class3_8";

  private final Model model;
  private final int loops;

  protected ModelSiteRules(Model model, int loops) {
    this.model = model;
    this.loops = loops;
  }

  /** Admits one connection that has not registered: connections of a site always have. */
  @Override
  protected Server start(Site site) throws IOException {
    Options options = new Options("127.0.0.1", 0, true, false, loops, false, 16 * MIB, 30, 1);
    return model.listen(options, new SiteService(site), line -> {});
  }

  @ParameterizedTest
  @CsvSource({
    "400, 'nonsense\r\n\r\n'",
    "400, 'GET / HTTP/1.1\r\n\r\n'",
    "413, 'POST /dynamic HTTP/1.0\r\nContent-Length: 4097\r\n\r\n'",
    "501, 'BREW / HTTP/1.0\r\n\r\n'"
  })
  void aRequestThatCannotBeDelimitedIsTheLast(int status, String wrong) throws IOException {
    try (SiteClient client = connect()) {
      client.send(get("/file_set/dir00001/class0_0") + wrong);
      assertEquals(200, client.reply().status());
      HttpReply refusal = client.reply();
      assertEquals(status, refusal.status());
      assertEquals("close", refusal.headers().get("connection"));
      client.expectEnd();
    }
  }

  @Test
  void anEndlessHeadIsRefused() throws IOException {
    try (SiteClient client = connect()) {
      client.send("GET /" + "a".repeat(200_000));
      assertEquals(431, client.reply().status());
    }
  }

  /** Closing with unread bytes would reset the connection, and the client would lose the reply. */
  @Test
  void bytesAfterTheLastRequestDoNotCostItsReply() throws IOException {
    try (SiteClient client = connect()) {
      client.send(get(LARGE, "Connection: close\r\n"));
      client.awaitReply();
      client.send("\r\n");
      assertEquals(200, client.reply().status());
      client.expectEnd();
    }
  }

  @Test
  void aWrongCookieKeepsTheConnection() throws IOException {
    String page = "/dynamic?/file_set/dir00001/class0_0";
    try (SiteClient client = connect()) {
      assertEquals(400, client.ask(get(page, "Cookie: my_cookie=user_id=1\r\n")).status());
      assertEquals(200, client.ask(get(page)).status());
    }
  }

  @Test
  void aKeptConnectionOfHttp10StaysOpen() throws IOException {
    String request = "GET /file_set/dir00001/class0_0 HTTP/1.0\r\nConnection: keep-alive\r\n\r\n";
    try (SiteClient client = connect()) {
      assertEquals("keep-alive", client.ask(request).headers().get("connection"));
      assertEquals(200, client.ask(request).status());
    }
  }

  @Test
  void theLastRepliesHaveNoDeadline() throws Exception {
    int large = 10; // more than the buffers of the kernel
    try (SiteClient client = connect()) {
      client.send(get(LARGE).repeat(large) + get(LARGE, "Connection: close\r\n"));
      // Chat closes after a second. The time is what is tested.
      Thread.sleep(1500);
      String first = client.reply().body();
      for (int i = 0; i < large; i++) {
        assertTrue(first.equals(client.reply().body()), "reply " + i);
      }
      client.expectEnd();
    }
  }
}
