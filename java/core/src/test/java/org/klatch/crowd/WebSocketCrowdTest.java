package org.klatch.crowd;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.klatch.crowd.WebSocketServerScript.ACCEPT;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.NullSource;
import org.klatch.websocket.FrameDecoder;
import org.klatch.websocket.Subprotocol;

/** The crowd over WebSocket, against the real server and a scripted one. */
@Timeout(60)
class WebSocketCrowdTest {

  @ParameterizedTest
  @EnumSource(Subprotocol.class)
  @NullSource
  void everySubprotocolGivesAValidResult(Subprotocol subprotocol) throws Exception {
    try (TestServer server = TestServer.ofWebSocket()) {
      Options options =
          TestOptions.create(server.port(), Pacing.FLOOD).webSocket(subprotocol).build();
      Result result = new Crowd(options, new TestControl()).run();
      assertNull(result.failure());
      assertTrue(result.valid());
      assertEquals(options.expectedReceived(), result.received());
    }
  }

  @Test
  void aPlainServerIsReported() throws Exception {
    try (TestServer server = new TestServer(false)) {
      Options options =
          TestOptions.create(server.port(), Pacing.TURNS).webSocket(Subprotocol.TEXT).build();
      Failure failure = new Crowd(options, new TestControl()).run().failure();
      assertEquals(Failure.Kind.JOIN, failure.kind());
      String begin = "the server answered the WebSocket handshake with: :test 4";
      assertTrue(failure.detail().startsWith(begin), failure.detail());
    }
  }

  @Test
  void aFailedHandshakeIsReported() throws Exception {
    String protocol = "Sec-WebSocket-Protocol: text.ircv3.net\r\n";
    String notFound = "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n";
    String answered = "the server answered the WebSocket handshake ";
    expectFailure(notFound, answered + "with: HTTP/1.1 404 Not Found");
    expectFailure(
        ACCEPT.replace(protocol, ""),
        "the server agreed to no subprotocol; it was offered text.ircv3.net");
    expectFailure(
        ACCEPT.replace("text.ircv3.net", "mqtt"),
        "the server agreed to subprotocol mqtt; it was offered text.ircv3.net");
    expectFailure(
        ACCEPT.replace("{accept}", "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="),
        answered + "without the Sec-WebSocket-Accept of the key");
    expectFailure(
        ACCEPT.replace("Connection: Upgrade\r\n", ""),
        answered + "without \"Upgrade: websocket\" and \"Connection: Upgrade\"");
    expectFailure(
        ACCEPT.replace(protocol, protocol + "Sec-WebSocket-Extensions: permessage-deflate\r\n"),
        "the server agreed to extensions, and none were offered: permessage-deflate");
    expectFailure("HTTP/1.1 1", "the server closed the connection in the WebSocket handshake");
  }

  private static void expectFailure(String response, String detail) throws Exception {
    try (WebSocketServerScript server = new WebSocketServerScript(response)) {
      assertEquals(detail, failure(server).detail());
    }
  }

  @Test
  void theRequestHasTheFieldsOfRfc6455() throws Exception {
    try (WebSocketServerScript server = new WebSocketServerScript(ACCEPT)) {
      failure(server);
      String request = server.requests.poll(30, TimeUnit.SECONDS);
      String expected =
          String.join(
              "\r\n",
              "GET /irc HTTP/1.1",
              "Host: 127.0.0.1:" + server.port(),
              "Upgrade: websocket",
              "Connection: Upgrade",
              "Sec-WebSocket-Version: 13",
              "Sec-WebSocket-Key: KEY",
              "Sec-WebSocket-Protocol: text.ircv3.net",
              "\r\n");
      assertEquals(expected, request.replaceFirst("Key: [A-Za-z0-9+/]{22}==\r", "Key: KEY\r"));
    }
  }

  @Test
  void aBreachOfTheProtocolIsReportedAndAnswered() throws Exception {
    expectClose(
        1002, new byte[] {(byte) 0x83, 0}, "the server broke WebSocket: opcode 3 is unknown");
    expectClose(
        1002,
        frame(0x82, "PING :x"),
        "the server broke WebSocket: a message is not of the type of text.ircv3.net");
    expectClose(1007, frame(0x81, "\u00ff"), "the server broke WebSocket: a text is not UTF-8");
    expectClose(
        1008,
        frame(0x81, "PING :x\r\n"),
        "the server broke WebSocket: a message contains a line break");
    expectClose(
        1003, frame(0x88, "\u0003\u00ebno"), "the server closed the WebSocket with code 1003: no");
    expectClose(
        1000,
        frame(0x88, "\u0003\u00e8"),
        "the server closed the connection without an answer to the first request:"
            + " it may speak another protocol");
  }

  private static void expectClose(int code, byte[] frames, String detail) throws Exception {
    try (WebSocketServerScript server = new WebSocketServerScript(ACCEPT, frames)) {
      Failure failure = failure(server);
      assertEquals(detail, failure.detail());
      List<String> events = events(server.received.poll(30, TimeUnit.SECONDS));
      assertEquals("CLOSE " + code, events.get(events.size() - 1));
    }
  }

  @Test
  void pingsAreAnsweredBeforeAndAfterTheJoin() throws Exception {
    byte[][] frames = {
      frame(0x89, "one"),
      frame(0x81, ":s 001 r1u0 :Welcome"),
      frame(0x81, ":s 366 r1u0 #klatch-1 :End"),
      frame(0x89, "two")
    };
    try (WebSocketServerScript server = new WebSocketServerScript(ACCEPT, frames)) {
      failure(server);
      List<String> events = events(server.received.poll(30, TimeUnit.SECONDS));
      String all = String.join(", ", events).replaceAll("r1u[01]", "USER");
      String expected = "TEXT NICK USER, TEXT USER USER 0 * :klatch, PONG one, TEXT JOIN #klatch-1";
      assertTrue(all.startsWith(expected), all);
      assertTrue(events.contains("PONG two"), events.toString());
    }
  }

  private static Failure failure(WebSocketServerScript server) throws InterruptedException {
    Options options =
        TestOptions.create(server.port(), Pacing.TURNS)
            .rooms(1)
            .users(2)
            .webSocket(Subprotocol.TEXT)
            .build();
    return new Crowd(options, new TestControl()).run().failure();
  }

  /** Encodes a short frame of a server. */
  private static byte[] frame(int start, String payload) {
    String head = "" + (char) start + (char) payload.length();
    return (head + payload).getBytes(ISO_8859_1);
  }

  /** Decodes what a client has sent. */
  private static List<String> events(byte[] bytes) {
    FrameDecoder decoder = new FrameDecoder(true, 16 * 1024);
    decoder.feed(bytes, 0, bytes.length);
    List<String> events = new ArrayList<>();
    FrameDecoder.Event event;
    while ((event = decoder.next()) != FrameDecoder.Event.NONE) {
      byte[] payload = Arrays.copyOf(decoder.bytes(), decoder.size());
      boolean isClose = event == FrameDecoder.Event.CLOSE;
      events.add(event + " " + (isClose ? decoder.code() : new String(payload, ISO_8859_1)));
    }
    return events;
  }
}
