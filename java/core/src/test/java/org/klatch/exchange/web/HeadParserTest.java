package org.klatch.exchange.web;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.Arrays;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Right and wrong heads; the same cases as in the Rust crate. */
class HeadParserTest {
  private static RequestHead parse(String text) throws RefusalException {
    byte[] bytes = text.getBytes(ISO_8859_1);
    return HeadParser.parse(bytes, 0, bytes.length);
  }

  private static Status refusal(String text) {
    return assertThrows(RefusalException.class, () -> parse(text), text).status();
  }

  @Test
  void aHeadHasItsParts() throws RefusalException {
    String head =
        """
        POST /dynamic?a?b HTTP/1.1\r
        HOST: x\r
        Cookie: my_cookie=1\r
        content-length: 12\r
        Accept: */*\r
        Cookie: other\r
        \r
        """;
    RequestHead expected =
        new RequestHead("POST", "/dynamic", "a?b", "my_cookie=1", 12, true, head.length());
    assertEquals(expected, parse(head + "urlroot="));
    byte[] after = ("xyz" + head).getBytes(ISO_8859_1);
    assertEquals(expected, HeadParser.parse(after, 3, after.length));
  }

  @Test
  void endsOfLinesAndTargetsHaveSeveralForms() throws RefusalException {
    RequestHead proxied = parse("GET http://host:80/file?q HTTP/1.0\n\n");
    assertEquals(new RequestHead("GET", "/file", "q", null, 0, false, 36), proxied);
    assertEquals("/", parse("GET http://host HTTP/1.0\r\n\r\n").path());
    assertEquals("HEAD", parse("\r\n\r\nHEAD / HTTP/1.0\r\n\n").method());
  }

  @ParameterizedTest
  @CsvSource({
    "1.1, '', true",
    "1.1, Connection: close, false",
    "1.1, Connection: Keep-Alive, true",
    "1.1, 'connection: TE , Close', false",
    "1.1, 'Connection: keep-alive\r\nConnection: close', false",
    "1.1, Connection: closed, true",
    "1.0, '', false",
    "1.0, Connection: keep-alive, true",
    "1.0, Connection: close, false"
  })
  void connectionsStayOpenAsVersionAndHeaderRequire(String version, String header, boolean kept)
      throws RefusalException {
    String end = header.isEmpty() ? "\r\n" : header + "\r\n\r\n";
    assertEquals(kept, parse("GET / HTTP/" + version + "\r\nHost: x\r\n" + end).keepAlive());
  }

  @ParameterizedTest
  @CsvSource({
    "400, 'GET\r\n\r\n'",
    "400, 'GET / HTTP/2.0\r\n\r\n'",
    "400, 'GET /HTTP/1.0\r\n\r\n'",
    "400, 'GET  HTTP/1.0\r\n\r\n'",
    "400, 'GET / x HTTP/1.0\r\n\r\n'",
    "400, 'GET / HTTP/1.1\r\n\r\n'",
    "400, 'GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n'",
    "400, 'GET / HTTP/1.1\r\nHost: x\r\nno colon\r\n\r\n'",
    "400, 'GET / HTTP/1.1\r\nHost : x\r\n\r\n'",
    "400, 'GET / HTTP/1.1\r\nHost: x\r\n folded\r\n\r\n'",
    "400, 'GET / HTTP/1.1\r\nHost: x\rHost: y\r\n\r\n'",
    "400, 'GET / HTTP/1.1\r\n: x\r\n\r\n'",
    "400, 'GET / HTTP/1.0\r\nContent-Length: -1\r\n\r\n'",
    "400, 'GET / HTTP/1.0\r\nContent-Length: 1, 1\r\n\r\n'",
    "400, 'GET / HTTP/1.0\r\nContent-Length:\r\n\r\n'",
    "400, 'GET / HTTP/1.0\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n'",
    "400, 'GET / HTTP/1.0\r\nContent-Length: 99999999999999999999\r\n\r\n'",
    "413, 'POST / HTTP/1.0\r\nContent-Length: 4097\r\n\r\n'",
    "501, 'POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n'",
    "501, 'BREW / HTTP/1.0\r\n\r\n'",
    "501, 'get / HTTP/1.0\r\n\r\n'"
  })
  void wrongHeadsHaveTheirStatus(int status, String head) {
    assertEquals(status, refusal(head).code());
  }

  @Test
  void aBeginningThatIsNoRequestLineIsRefusedAtOnce() throws RefusalException {
    assertEquals(Status.BAD_REQUEST, refusal("\u0016\u0003\u0001"));
    assertEquals(Status.BAD_REQUEST, refusal(" GET"));
    assertNull(parse(""));
  }

  @Test
  void equalContentLengthsAreOne() throws RefusalException {
    assertEquals(
        1, parse("GET / HTTP/1.0\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n").bodyBytes());
    assertEquals(4096, parse("POST / HTTP/1.0\r\nContent-Length: 4096\r\n\r\n").bodyBytes());
  }

  @Test
  void theLongestHeadIsAcceptedAndOneByteMoreIsNot() throws RefusalException {
    String rest = "GET / HTTP/1.0\r\na: \r\n\r\n";
    String longest = rest.replace(": ", ": " + "x".repeat(RequestHead.BYTES_MAX - rest.length()));
    assertEquals(RequestHead.BYTES_MAX, parse(longest).bytes());
    assertEquals(Status.HEAD_TOO_LARGE, refusal(longest.replace("x\r", "xx\r")));
    String endless = "a".repeat(RequestHead.BYTES_MAX);
    assertNull(parse(endless));
    assertEquals(Status.HEAD_TOO_LARGE, refusal(endless + "a"));
  }

  @Test
  void thirtyTwoHeadersAreAcceptedAndOneMoreIsNot() throws RefusalException {
    String head = "GET / HTTP/1.0\r\n" + "a: b\r\n".repeat(32);
    assertEquals("GET", parse(head + "\r\n").method());
    assertEquals(Status.HEAD_TOO_LARGE, refusal(head + "a: b\r\n\r\n"));
  }

  @Test
  void eachPartOfAHeadIsIncomplete() throws RefusalException {
    String head = "GET /a?b HTTP/1.1\r\nHost: x\r\nCookie: c\r\n\r\n";
    for (int length = 0; length < head.length(); length++) {
      assertNull(parse(head.substring(0, length)), head.substring(0, length));
    }
  }

  @Property
  boolean anyBytesAreParsedOrRefused(@ForAll @Size(max = 300) byte[] bytes) {
    try {
      RequestHead head = HeadParser.parse(bytes, 0, bytes.length);
      return head == null || head.bytes() <= bytes.length;
    } catch (RefusalException refusal) {
      return refusal.status() != Status.OK;
    }
  }

  @Property
  boolean whatFollowsAHeadDoesNotChangeIt(@ForAll @Size(max = 50) byte[] rest)
      throws RefusalException {
    byte[] head = "GET /x HTTP/1.1\r\nHost: y\r\n\r\n".getBytes(ISO_8859_1);
    byte[] both = Arrays.copyOf(head, head.length + rest.length);
    System.arraycopy(rest, 0, both, head.length, rest.length);
    RequestHead alone = HeadParser.parse(head, 0, head.length);
    return alone.equals(HeadParser.parse(both, 0, both.length));
  }
}
