package org.klatch.server;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.klatch.server.WebSocketClient.frame;

import java.io.EOFException;
import java.io.IOException;
import java.net.SocketException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.NullSource;
import org.klatch.chat.Identity;
import org.klatch.chat.ServerState;
import org.klatch.crowd.Crowd;
import org.klatch.crowd.Pacing;
import org.klatch.crowd.Result;
import org.klatch.crowd.TestControl;
import org.klatch.crowd.TestOptions;
import org.klatch.crowd.Transport;
import org.klatch.websocket.Subprotocol;

/** Rules for models that have the WebSocket of another project. */
@Timeout(120)
public abstract class WebSocketStackRules {
  private final Model model;
  private Server server;

  protected WebSocketStackRules(Model model) {
    this.model = model;
  }

  @AfterEach
  void stop() throws IOException {
    server.close();
  }

  @ParameterizedTest
  @EnumSource(Subprotocol.class)
  @NullSource
  void everySubprotocolServesACrowd(Subprotocol subprotocol) throws Exception {
    int port = start(30, 1 << 20);
    var options =
        TestOptions.create(port, Pacing.FLOOD)
            .rooms(3)
            .users(5)
            .count(50)
            .transport(new Transport(true, subprotocol, "/", null))
            .build();
    Result result = new Crowd(options, new TestControl()).run();
    assertNull(result.failure());
    assertTrue(result.valid());
    assertEquals(options.expectedReceived(), result.received());
  }

  @Test
  void messagesAreLinesOfTheirSubprotocol() throws IOException {
    int port = start(30, 1 << 20);
    try (WebSocketClient ann = WebSocketClient.joined(port, "ann", "text.ircv3.net");
        WebSocketClient bob = WebSocketClient.joined(port, "bob", "binary.ircv3.net")) {
      String line = ":ann!ann@127.0.0.1 PRIVMSG #a :hello";
      ann.sendText("PRIVMSG #a :hello");
      assertEquals(new WebSocketClient.Frame(0x82, line), bob.skipTo(line));
      bob.send(frame(0x82, "PRIVMSG #a :\u00ff".getBytes(ISO_8859_1)));
      String replaced = new String("\ufffd".getBytes(UTF_8), ISO_8859_1);
      ann.skipTo(":bob!bob@127.0.0.1 PRIVMSG #a :" + replaced);
      ann.send(frame(0x01, "PING".getBytes(UTF_8)));
      ann.send(frame(0x80, " :fragments".getBytes(UTF_8)));
      ann.skipTo(":test PONG test :fragments");
      ann.send(frame(0x89, "x".getBytes(UTF_8)));
      assertEquals(new WebSocketClient.Frame(0x8a, "x"), ann.next());
    }
  }

  @Test
  void theEndOfAConnectionIsAQuitForTheRoom() throws IOException {
    int port = start(30, 1 << 20);
    try (WebSocketClient ann = WebSocketClient.joined(port, "ann", "text.ircv3.net")) {
      try (WebSocketClient bob = WebSocketClient.joined(port, "bob", "text.ircv3.net")) {
        bob.send(frame(0x88, new byte[] {3, (byte) 0xe8}));
        expectClose(1000, bob.next());
      }
      ann.skipTo(":bob!bob@127.0.0.1 QUIT :Connection closed");
      WebSocketClient.joined(port, "eve", "text.ircv3.net").close();
      ann.skipTo(":eve!eve@127.0.0.1 QUIT :Connection closed");
      ann.sendText("QUIT");
      ann.skipTo("ERROR :Closing link: (Quit)");
      expectClose(1000, ann.next());
    }
  }

  @Test
  void aBadMessageClosesTheConnection() throws IOException {
    int port = start(30, 1 << 20);
    expectClose(port, 1008, frame(0x81, "PING :a\r\nPING :b".getBytes(UTF_8)));
    expectEnd(port, 1007, frame(0x81, new byte[] {(byte) 0xc3, 0x28}));
    expectEnd(port, 1002, new byte[] {(byte) 0x81, 1, 'x'});
    expectEnd(port, 1009, frame(0x81, new byte[16 * 1024 + 1]));
  }

  /** As expectClose, for errors that the stack detects: Tomcat may close without a close frame. */
  private static void expectEnd(int port, int code, byte[] bytes) throws IOException {
    try {
      expectClose(port, code, bytes);
    } catch (EOFException | SocketException e) {
      // closed, or reset because it had not read everything
    }
  }

  private static void expectClose(int port, int code, byte[] bytes) throws IOException {
    String nick = "u" + code; // the server may notice the end of the last client later
    try (WebSocketClient client = WebSocketClient.joined(port, nick, "text.ircv3.net")) {
      client.send(bytes);
      expectClose(code, client.next());
    }
  }

  private static void expectClose(int code, WebSocketClient.Frame frame) {
    assertEquals(0x88, frame.start(), frame.toString());
    assertEquals(code, (frame.text().charAt(0) << 8) | frame.text().charAt(1));
  }

  @Test
  void anotherVersionIsRefused() throws IOException {
    int port = start(30, 1 << 20);
    try (WebSocketClient client = new WebSocketClient(port)) {
      String fields = WebSocketClient.FIELDS.replace("Version: 13", "Version: 99");
      String head = client.request("GET / HTTP/1.1\r\n" + fields);
      assertTrue(head.startsWith("HTTP/1.1 4"), head);
    }
  }

  @Test
  void aSilentConnectionIsClosed() throws IOException {
    int port = start(1, 1 << 20);
    try (WebSocketClient silent = WebSocketClient.opened(port, "text.ircv3.net")) {
      silent.skipTo("ERROR :Closing link: (Registration timed out)");
    }
  }

  @Test
  void overflowClosesTheConnectionAndOthersSeeItQuit() throws IOException {
    int port = start(30, 64 * 1024);
    try (WebSocketClient slow = WebSocketClient.joined(port, "slow", "text.ircv3.net");
        WebSocketClient ann = WebSocketClient.joined(port, "ann", "text.ircv3.net")) {
      ann.sendUntilQuit("slow", 20);
      ann.ping("still here");
      slow.rest();
    }
  }

  private int start(int registrationTimeoutS, int sendqBytes) throws IOException {
    ServerState state = new ServerState(new Identity("test", "1", "today", "Klatch", "Hello."));
    var variant = new ServingRules.Variant(model, false, 2, false);
    server = variant.start(state, sendqBytes, registrationTimeoutS, 100);
    return server.port();
  }
}
