package org.klatch.exchange.web;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.klatch.service.ConnectionHandler;
import org.klatch.service.Outbox;

/** A connection: requests in pieces and in pipelines, and what closes it. */
class SiteHandlerTest {
  private static final String SMALL = get("/file_set/dir00000/class0_0");

  private final SiteService service = new SiteService(new Site(new SiteOptions(7, 4)));
  private final ExpectedSite expected = new ExpectedSite(7);

  /** Collects the replies of one connection. */
  private static final class Collector implements Outbox {
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private boolean closed;

    @Override
    public void send(byte[] line) {
      assertFalse(closed, "nothing may follow the end");
      bytes.writeBytes(line);
    }

    @Override
    public void close() {
      closed = true;
    }

    private List<HttpReply> replies() throws IOException {
      List<HttpReply> replies = new ArrayList<>();
      var in = new ByteArrayInputStream(bytes.toByteArray());
      while (in.available() > 0) {
        replies.add(HttpReply.read(in));
      }
      return replies;
    }

    private List<Integer> statuses() throws IOException {
      return replies().stream().map(HttpReply::status).toList();
    }
  }

  private final Collector collector = new Collector();
  private final ConnectionHandler handler = service.open("10.0.0.1", collector, 0);

  private static String get(String target) {
    return "GET " + target + " HTTP/1.1\r\nHost: h\r\n\r\n";
  }

  /** Feeds text in pieces; returns whether the connection is open after the last one. */
  private static boolean feed(ConnectionHandler handler, String text, int pieceBytes) {
    byte[] bytes = text.getBytes(ISO_8859_1);
    boolean open = true;
    for (int at = 0; at < bytes.length && open; at += pieceBytes) {
      int count = Math.min(pieceBytes, bytes.length - at);
      open = handler.feed(ByteBuffer.wrap(bytes, at, count), () -> {});
    }
    return open;
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 7, 150, 4096, 100_000})
  void aPipelineGetsItsRepliesInOrder(int pieceBytes) throws IOException {
    List<String> paths = new ArrayList<>();
    StringBuilder requests = new StringBuilder();
    for (int index = 0; index < 36; index++) {
      paths.add(FileId.at(3 * 36 + index).path());
      requests.append(get(paths.get(index)));
    }
    String form = "urlroot=/file_set/&dir=1&class=0&num=0&client=1";
    requests.append("POST /dynamic HTTP/1.1\r\nHost: h\r\n");
    requests.append("Cookie: my_cookie=user_id=10000&last_ad=0\r\n");
    requests.append("Content-Length: " + form.length() + "\r\n\r\n" + form);
    assertTrue(feed(handler, requests.toString(), pieceBytes));
    List<HttpReply> replies = collector.replies();
    assertEquals(37, replies.size());
    for (int index = 0; index < 36; index++) {
      assertEquals(expected.file(paths.get(index)), replies.get(index).body());
      assertEquals("keep-alive", replies.get(index).headers().get("connection"));
    }
    assertEquals(expected.file("/file_set/dir00001/class0_0"), replies.get(36).inFrame());
  }

  @Test
  void aCallersBufferIsFilledInPlace() throws IOException {
    ConnectionHandler inPlace = service.open("10.0.0.1", collector, 16 * 1024);
    byte[] requests = SMALL.repeat(3).getBytes(ISO_8859_1);
    for (byte b : requests) {
      inPlace.buffer()[inPlace.fillAt()] = b;
      assertTrue(inPlace.feed(1, () -> {}));
    }
    assertEquals(List.of(200, 200, 200), collector.statuses());
    assertEquals(0, inPlace.fillAt());
  }

  @ParameterizedTest
  @CsvSource({
    "HTTP/1.0, '', false",
    "HTTP/1.0, 'Connection: keep-alive\r\n', true",
    "HTTP/1.1, 'Host: h\r\nConnection: close\r\n', false"
  })
  void theLastRequestClosesAndWhatFollowsIsIgnored(String version, String headers, boolean kept)
      throws IOException {
    String request = "GET /file_set/dir00000/class0_0 " + version + "\r\n" + headers + "\r\n";
    assertEquals(kept, feed(handler, request + request, 4096));
    assertEquals(kept ? 2 : 1, collector.replies().size());
    String connection = collector.replies().get(0).headers().get("connection");
    assertEquals(kept ? "keep-alive" : "close", connection);
    assertEquals(!kept, collector.closed);
    assertEquals(kept, feed(handler, request, 4096));
  }

  @ParameterizedTest
  @CsvSource({
    "400, 'nonsense\r\n\r\n'",
    "400, 'GET / HTTP/1.1\r\n\r\n'",
    "413, 'POST /dynamic HTTP/1.0\r\nContent-Length: 4097\r\n\r\n'",
    "501, 'POST /dynamic HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n'",
    "501, 'BREW / HTTP/1.0\r\n\r\n'"
  })
  void requestsThatCannotBeDelimitedClose(int status, String wrong) throws IOException {
    for (int pieceBytes : new int[] {1, 4096}) {
      Collector out = new Collector();
      ConnectionHandler opened = service.open("10.0.0.1", out, 0);
      assertFalse(feed(opened, SMALL + wrong, pieceBytes));
      assertEquals(List.of(200, status), out.statuses());
      assertEquals("close", out.replies().get(1).headers().get("connection"));
      assertTrue(out.closed);
    }
  }

  @Test
  void aHeadWithoutAnEndIsRefused() throws IOException {
    String head = "GET /" + "a".repeat(RequestHead.BYTES_MAX);
    assertFalse(feed(handler, head, 1));
    assertEquals(List.of(431), collector.statuses());
  }

  @Test
  void theLargestRequestIsServed() throws IOException {
    String cookie = "Cookie: my_cookie=user_id=10000&last_ad=0; a=";
    String start = "POST /dynamic HTTP/1.1\r\nHost: h\r\nContent-Length: 4096\r\n" + cookie;
    String head = start + "x".repeat(RequestHead.BYTES_MAX - start.length() - 4) + "\r\n\r\n";
    String form = "urlroot=/file_set/&dir=1&class=0&num=0&client=1";
    String body = form.replace("dir=", "dir=" + "0".repeat(4096 - form.length()));
    for (int pieceBytes : new int[] {1, 5000, 20_000}) {
      assertTrue(feed(handler, head + body, pieceBytes));
    }
    assertEquals(List.of(200, 200, 200), collector.statuses());
  }

  @Test
  void refusedRequestsThatAreDelimitedKeepTheConnection() throws IOException {
    String wrong = "POST /cgi HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello";
    String other = wrong.replace("/cgi", "/file_set/dir00000/class0_0");
    assertTrue(feed(handler, wrong + other + SMALL, 4096));
    assertEquals(List.of(404, 405, 200), collector.statuses());
    assertEquals("GET", collector.replies().get(1).headers().get("allow"));
  }

  @Test
  void theReplyToHeadHasNoBody() throws IOException {
    assertTrue(feed(handler, SMALL.replace("GET", "HEAD"), 4096));
    String reply = collector.bytes.toString(ISO_8859_1);
    assertTrue(reply.startsWith("HTTP/1.1 405 ") && reply.endsWith("\r\n\r\n"), reply);
  }

  @Test
  void anEndClosesOnce() {
    assertTrue(feed(handler, "GET /", 4096));
    handler.end("Connection closed");
    assertTrue(collector.closed);
    assertFalse(feed(handler, SMALL, 4096));
    assertEquals(0, collector.bytes.size());
    assertTrue(handler.registered() && service.repliesOnly());
    assertEquals(0, service.closingLine("full").length);
  }
}
