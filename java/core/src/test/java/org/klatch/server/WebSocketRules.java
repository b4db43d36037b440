package org.klatch.server;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.klatch.server.WebSocketClient.FIELDS;
import static org.klatch.server.WebSocketClient.frame;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.Arrays;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.klatch.chat.Identity;
import org.klatch.chat.ServerState;
import org.klatch.websocket.WebSocketService;

/** Rules for every model that serves the chat over WebSocket. */
@Timeout(120)
public abstract class WebSocketRules {
  private static final String TEXT = "text.ircv3.net";
  private static final String BINARY = "binary.ircv3.net";
  private static final int MAX_MESSAGE = 16 * 1024;

  private final ServingRules.Variant variant;
  private Server server;

  protected WebSocketRules(ServingRules.Variant variant) {
    this.variant = variant;
  }

  @AfterEach
  void stop() throws IOException {
    server.close();
  }

  @Test
  void theHandshakeIsAnswered() throws IOException {
    int port = start(30, 1 << 20);
    try (WebSocketClient client = new WebSocketClient(port)) {
      assertEquals(
          String.join(
              "\r\n",
              "HTTP/1.1 101 Switching Protocols",
              "Upgrade: websocket",
              "Connection: Upgrade",
              "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=",
              "Sec-WebSocket-Protocol: binary.ircv3.net",
              "\r\n"),
          client.request(
              "GET /irc HTTP/1.1\r\n"
                  + FIELDS
                  + "Sec-WebSocket-Protocol: mqtt\r\n"
                  + "sec-websocket-protocol: binary.ircv3.net, text.ircv3.net\r\n"));
    }
    try (WebSocketClient client = new WebSocketClient(port)) {
      String head =
          client.request("GET / HTTP/1.1\r\n" + FIELDS + "Sec-WebSocket-Protocol: mqtt\r\n");
      assertTrue(head.startsWith("HTTP/1.1 101 "), head);
      assertFalse(head.contains("Sec-WebSocket-Protocol"), head);
      client.ping("without a subprotocol");
    }
  }

  @Test
  void anotherVersionIsAnsweredWithTheSupportedOne() throws IOException {
    int port = start(30, 1 << 20);
    for (String version : new String[] {"Sec-WebSocket-Version: 8\r\n", ""}) {
      try (WebSocketClient client = new WebSocketClient(port)) {
        String fields = FIELDS.replace("Sec-WebSocket-Version: 13\r\n", version);
        String head = client.request("GET / HTTP/1.1\r\n" + fields);
        assertTrue(head.startsWith("HTTP/1.1 426 "), head);
        assertTrue(head.contains("\r\nSec-WebSocket-Version: 13\r\n"), head);
        assertEquals("The only supported version of WebSocket is 13.\n", client.rest());
      }
    }
  }

  @Test
  void aBadRequestIsRefused() throws IOException {
    int port = start(30, 1 << 20);
    String get = "GET / HTTP/1.1\r\n";
    expectRefusal(port, 400, "POST / HTTP/1.1\r\n" + FIELDS);
    expectRefusal(port, 400, "GET / HTTP/1.0\r\n" + FIELDS);
    expectRefusal(port, 400, "NICK ann\r\n");
    expectRefusal(port, 400, get + FIELDS.replace("Host: test\r\n", ""));
    expectRefusal(port, 400, get + FIELDS + "Host: other\r\n");
    expectRefusal(port, 400, get + FIELDS.replace("websocket\r\n", "h2c\r\n"));
    expectRefusal(port, 400, get + FIELDS.replace(", Upgrade", ""));
    expectRefusal(port, 400, get + FIELDS.replace("ZQ==", "ZR=="));
    expectRefusal(port, 400, get + FIELDS.replace("ZQ==", "ZQA="));
    expectRefusal(port, 400, get + FIELDS.replace("ZQ==", "*"));
    expectRefusal(port, 400, get + FIELDS.replace("Key:", "Lock:"));
    expectRefusal(port, 400, get + " " + FIELDS);
    expectRefusal(port, 431, get + FIELDS + "X: " + "x".repeat(8 * 1024) + "\r\n");
  }

  private static void expectRefusal(int port, int status, String head) throws IOException {
    try (WebSocketClient client = new WebSocketClient(port)) {
      String response = client.request(head);
      assertTrue(response.startsWith("HTTP/1.1 " + status + " "), head + response);
      client.rest();
    }
  }

  @Test
  void aMessageIsALineWithoutItsEnding() throws IOException {
    int port = start(30, 1 << 20);
    try (WebSocketClient ann = WebSocketClient.joined(port, "ann", TEXT);
        WebSocketClient bob = WebSocketClient.joined(port, "bob", BINARY);
        WebSocketClient eve = WebSocketClient.joined(port, "eve", "")) {
      ann.sendText("PRIVMSG #a :gr\u00fc\u00dfe");
      String line = ":ann!ann@127.0.0.1 PRIVMSG #a :gr\u00c3\u00bc\u00c3\u009fe";
      assertEquals(new WebSocketClient.Frame(0x82, line), bob.skipTo(line));
      assertEquals(new WebSocketClient.Frame(0x81, line), eve.skipTo(line));
      String replacement = new String("\ufffd".getBytes(UTF_8), ISO_8859_1);
      bob.send(frame(0x82, "PRIVMSG #a :\u00ff\u0001".getBytes(ISO_8859_1)));
      ann.skipTo(":bob!bob@127.0.0.1 PRIVMSG #a :" + replacement + "\u0001");
      eve.skipTo(":bob!bob@127.0.0.1 PRIVMSG #a :" + replacement + "\u0001");
      eve.sendText("PRIVMSG #a :" + "x".repeat(400));
      ann.skipTo(":eve!eve@127.0.0.1 PRIVMSG #a :" + "x".repeat(400));
      bob.skipTo(":eve!eve@127.0.0.1 PRIVMSG #a :" + "x".repeat(400));
      ann.sendText("");
      ann.ping("an empty message is an empty line");
    }
  }

  @Test
  void linesOfOtherSizesAreTreatedAsWithoutWebSocket() throws IOException {
    int port = start(30, 1 << 20);
    try (WebSocketClient ann = WebSocketClient.joined(port, "ann", TEXT)) {
      ann.sendText("PING " + "x".repeat(511));
      assertEquals(":test 417 ann :Input line was too long", ann.next().text());
      ann.sendText("PING " + "x".repeat(MAX_MESSAGE - 5));
      assertEquals(":test 417 ann :Input line was too long", ann.next().text());
      ann.ping("the next line is handled");
      ann.sendText("PING \0");
      ann.skipTo("ERROR :Closing link: (NUL in input)");
      ann.expectClose(1000);
    }
  }

  @Test
  void fragmentsAndSingleBytesMakeOneMessage() throws IOException {
    int port = start(30, 1 << 20);
    try (WebSocketClient ann = new WebSocketClient(port)) {
      ByteArrayOutputStream all = new ByteArrayOutputStream();
      all.writeBytes(("GET / HTTP/1.1\r\n" + FIELDS + "\r\n").getBytes(ISO_8859_1));
      all.writeBytes(frame(0x01, "PI".getBytes(UTF_8)));
      all.writeBytes(frame(0x00, new byte[0]));
      all.writeBytes(frame(0x89, new byte[] {7}));
      all.writeBytes(frame(0x80, "NG :abc".getBytes(UTF_8)));
      ann.send(all.toByteArray());
      assertTrue(ann.readHead().startsWith("HTTP/1.1 101 "));
      assertEquals(new WebSocketClient.Frame(0x8a, "\u0007"), ann.next());
      assertEquals(":test PONG test :abc", ann.next().text());
      for (byte b : frame(0x81, "PING :slow".getBytes(UTF_8))) {
        ann.send(new byte[] {b});
      }
      assertEquals(":test PONG test :slow", ann.next().text());
    }
  }

  @Test
  void manyMessagesInOnePacketAreAllHandled() throws IOException {
    int port = start(30, 1 << 20);
    try (WebSocketClient ann = WebSocketClient.joined(port, "ann", TEXT)) {
      ByteArrayOutputStream pings = new ByteArrayOutputStream();
      for (int i = 0; i < 2000; i++) {
        pings.writeBytes(frame(0x81, ("PING " + i).getBytes(UTF_8)));
      }
      ann.send(pings.toByteArray());
      for (int i = 0; i < 2000; i++) {
        assertEquals(":test PONG test :" + i, ann.next().text());
      }
    }
  }

  @Test
  void aCloseFrameIsAnsweredAndEndsTheConnection() throws IOException {
    int port = start(30, 1 << 20);
    try (WebSocketClient ann = WebSocketClient.joined(port, "ann", TEXT);
        WebSocketClient bob = WebSocketClient.joined(port, "bob", TEXT)) {
      bob.send(frame(0x88, new byte[] {0x0b, (byte) 0xb8, 'b', 'y', 'e'}));
      bob.expectClose(3000);
      ann.skipTo(":bob!bob@127.0.0.1 QUIT :Connection closed");
      ann.send(frame(0x88, new byte[0]));
      assertEquals(new WebSocketClient.Frame(0x88, ""), ann.next());
      ann.expectEnd();
    }
  }

  @Test
  void quitEndsWithACloseFrame() throws IOException {
    int port = start(30, 1 << 20);
    try (WebSocketClient ann = WebSocketClient.joined(port, "ann", TEXT)) {
      ann.sendText("QUIT :bye");
      ann.skipTo("ERROR :Closing link: (Quit: bye)");
      ann.expectClose(1000);
    }
  }

  @Test
  void anErrorClosesWithItsCode() throws IOException {
    int port = start(30, 1 << 20);
    try (WebSocketClient ann = WebSocketClient.joined(port, "ann", TEXT)) {
      expectError(port, 1009, frame(0x81, new byte[MAX_MESSAGE + 1]));
      ann.skipTo(":bob!bob@127.0.0.1 QUIT :WebSocket error: a message has more than 16384 bytes");
      expectError(port, 1007, frame(0x81, new byte[] {(byte) 0xc3, 0x28}));
      ann.skipTo(":bob!bob@127.0.0.1 QUIT :WebSocket error: a text is not UTF-8");
      expectError(port, 1002, new byte[] {(byte) 0x81, 1, 'x'});
      ann.skipTo(":bob!bob@127.0.0.1 QUIT :WebSocket error: a frame of a client is not masked");
      expectError(port, 1002, frame(0x83, new byte[0]));
      expectError(port, 1002, frame(0xc1, new byte[0]));
      expectError(port, 1008, frame(0x81, "PING :a\r\nPING :b".getBytes(UTF_8)));
      ann.skipTo(":bob!bob@127.0.0.1 QUIT :WebSocket error: a line break in a message");
      expectError(port, 1008, frame(0x82, "PING :a\n".getBytes(UTF_8)));
      ann.ping("still here");
    }
  }

  /** A client that has joined sends the bytes, and further ones, which are ignored. */
  private static void expectError(int port, int code, byte[] bytes) throws IOException {
    try (WebSocketClient bob = WebSocketClient.joined(port, "bob", TEXT)) {
      byte[] later = frame(0x81, "PING :later".getBytes(UTF_8));
      byte[] all = Arrays.copyOf(bytes, bytes.length + later.length);
      System.arraycopy(later, 0, all, bytes.length, later.length);
      bob.send(all);
      bob.expectClose(code);
    }
  }

  @Test
  void registrationTimesOutDuringTheHandshakeAndAfterIt() throws IOException {
    int port = start(1, 1 << 20);
    try (WebSocketClient silent = new WebSocketClient(port);
        WebSocketClient opened = WebSocketClient.opened(port, TEXT)) {
      silent.expectEnd();
      opened.skipTo("ERROR :Closing link: (Registration timed out)");
      opened.expectClose(1000);
    }
  }

  @Test
  void overflowClosesTheConnectionAndOthersSeeItQuit() throws IOException {
    int port = start(30, 64 * 1024);
    try (WebSocketClient slow = WebSocketClient.joined(port, "slow", TEXT);
        WebSocketClient ann = WebSocketClient.joined(port, "ann", TEXT)) {
      ann.sendUntilQuit("slow", 100);
      ann.ping("still here");
      slow.skipToEnd();
    }
  }

  private int start(int registrationTimeoutS, int sendqBytes) throws IOException {
    ServerState state = new ServerState(new Identity("test", "1", "today", "Klatch", "Hello."));
    server = variant.start(new WebSocketService(state), sendqBytes, registrationTimeoutS, 100);
    return server.port();
  }
}
