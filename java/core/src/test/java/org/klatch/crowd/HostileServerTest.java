package org.klatch.crowd;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import org.junit.jupiter.api.Test;
import org.klatch.websocket.Subprotocol;

/** Servers that try to end a crowd. */
class HostileServerTest {
  private static final String JOIN =
      ":s 001 x :hello\r\n:s 366 x #klatch-1 :End of /NAMES list.\r\n";

  /** Bytes of pings to a user: their answers are more than all buffers of the sockets hold. */
  private static final int PING_BYTES = 24 << 20;

  @Test
  void pingsWithoutEndWhoseAnswersNobodyReadsEndTheCrowd() throws Exception {
    byte[] pings = "PING x\r\n".repeat(8192).getBytes(US_ASCII);
    try (ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
      Thread acceptor = new Thread(() -> serve(server, pings), "hostile server");
      acceptor.setDaemon(true);
      acceptor.start();
      assertAsksWithoutReading(run(TestOptions.create(server.getLocalPort(), Pacing.TURNS)));
    }
  }

  @Test
  void pingFramesWithoutEndWhoseAnswersNobodyReadsEndTheCrowd() throws Exception {
    ByteArrayOutputStream join = new ByteArrayOutputStream();
    for (String line : JOIN.lines().toList()) {
      join.write(new byte[] {(byte) 0x81, (byte) line.length()});
      join.write(line.getBytes(US_ASCII));
    }
    byte[] pings = new byte[PING_BYTES]; // each is two bytes, and its answer six
    for (int at = 0; at < pings.length; at += 2) {
      pings[at] = (byte) 0x89;
    }
    try (WebSocketServerScript server =
        new WebSocketServerScript(WebSocketServerScript.ACCEPT, join.toByteArray(), pings)) {
      TestOptions options = TestOptions.create(server.port(), Pacing.TURNS).timeoutS(5);
      assertAsksWithoutReading(run(options.webSocket(Subprotocol.TEXT)));
    }
  }

  /** A server of another protocol is quoted, one that asks to wait lets users in. */
  @Test
  void aServerOfAnotherProtocolIsQuotedAndOneThatAsksToWaitIsNot() throws Exception {
    assertEquals(
        "the server answered: HTTP/1.1 400 Bad Request",
        failureOf("HTTP/1.1 400 Bad Request\r\nServer: x\r\n\r\n"));
    String wait = ":s 439 * :Please wait while we process your connection.\r\n";
    assertEquals(
        "the server answered: 433 Nickname is in use.",
        failureOf(wait + ":s 433 * :Nickname is in use.\r\n"));
    String closed = "the server closed the connection without an answer to the first request";
    assertTrue(failureOf("").startsWith(closed));
  }

  /** The failure of a crowd whose first user gets this answer and the end of the connection. */
  private static String failureOf(String answer) throws Exception {
    try (ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
      Thread acceptor = new Thread(() -> answer(server, answer), "other server");
      acceptor.setDaemon(true);
      acceptor.start();
      return run(TestOptions.create(server.getLocalPort(), Pacing.TURNS)).failure().detail();
    }
  }

  private static void answer(ServerSocket server, String answer) {
    while (!server.isClosed()) {
      try (Socket socket = server.accept()) {
        socket.getInputStream().read(new byte[1024]);
        socket.getOutputStream().write(answer.getBytes(US_ASCII));
      } catch (IOException e) {
        return;
      }
    }
  }

  private static void assertAsksWithoutReading(Result result) {
    assertEquals(Failure.Kind.DISCONNECT, result.failure().kind());
    String detail = result.failure().detail();
    assertTrue(detail.startsWith("the server asks for replies, such as by pings"), detail);
  }

  private static Result run(TestOptions options) throws InterruptedException {
    return new Crowd(options.rooms(1).users(2).build(), new TestControl()).run();
  }

  /** Lets every user in, and pings it without reading. */
  private static void serve(ServerSocket server, byte[] pings) {
    while (!server.isClosed()) {
      try {
        Socket socket = server.accept();
        Thread pinger = new Thread(() -> ping(socket, pings), "pings");
        pinger.setDaemon(true);
        pinger.start();
      } catch (IOException e) {
        return; // the test has ended
      }
    }
  }

  private static void ping(Socket socket, byte[] pings) {
    try (socket) {
      socket.getOutputStream().write(JOIN.getBytes(US_ASCII));
      for (int sent = 0; sent < PING_BYTES; sent += pings.length) {
        socket.getOutputStream().write(pings);
      }
      Thread.sleep(60_000);
    } catch (IOException | InterruptedException e) {
      // the crowd has hung up
    }
  }
}
