package org.klatch.server;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.Socket;

/** A client by hand, for one test thread. */
final class Client implements AutoCloseable {
  private final Socket socket = new Socket();
  private final BufferedReader in;

  /** Connects, with a small receive buffer so that it is easily full. */
  Client(int port) throws IOException {
    socket.setReceiveBufferSize(4096);
    socket.setSoTimeout(30_000);
    socket.connect(new java.net.InetSocketAddress(InetAddress.getLoopbackAddress(), port));
    in = new BufferedReader(new InputStreamReader(socket.getInputStream(), ISO_8859_1));
  }

  /** Connects, registers and joins #a. */
  static Client joined(int port, String nick) throws IOException {
    Client client = new Client(port);
    client.say("NICK " + nick + "\r\nUSER " + nick + " 0 * :x\r\nJOIN #a");
    client.skipTo(":test 366 " + nick + " #a :End of /NAMES list");
    return client;
  }

  void say(String lines) throws IOException {
    socket.getOutputStream().write((lines + "\r\n").getBytes(ISO_8859_1));
  }

  String next() throws IOException {
    String line = in.readLine();
    assertNotNull(line, "the server closed the connection");
    return line;
  }

  void skipTo(String expected) throws IOException {
    String line;
    do {
      line = next();
    } while (!line.equals(expected));
  }

  /** The connection is still there, and all that was said before has been handled. */
  void ping(String token) throws IOException {
    say("PING :" + token);
    skipTo(":test PONG test :" + token);
  }

  /** Reads on to the end of the connection; the last line must be {@code expected}. */
  void closedAfter(String expected) throws IOException {
    String last = null;
    String line;
    while ((line = in.readLine()) != null) {
      last = line;
    }
    assertEquals(expected, last);
  }

  /** Says nothing more, but listens on. */
  void endOutput() throws IOException {
    socket.shutdownOutput();
  }

  /** Breaks the connection. */
  void reset() throws IOException {
    socket.setSoLinger(true, 0);
    socket.close();
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
