package org.klatch.server;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.Socket;

/** A scripted IRC client, for one test thread. */
final class Client implements AutoCloseable {
  private final Socket socket = new Socket();
  private final BufferedReader in;

  /** Connects with a small receive buffer, which fills up quickly. */
  Client(int port) throws IOException {
    socket.setReceiveBufferSize(4096);
    socket.setSoTimeout(30_000);
    socket.connect(new java.net.InetSocketAddress(InetAddress.getLoopbackAddress(), port));
    in = new BufferedReader(new InputStreamReader(socket.getInputStream(), ISO_8859_1));
  }

  /** Connects, registers and joins #a. */
  static Client joined(int port, String nick) throws IOException {
    Client client = new Client(port);
    client.send("NICK " + nick + "\r\nUSER " + nick + " 0 * :x\r\nJOIN #a");
    client.skipTo(":test 366 " + nick + " #a :End of /NAMES list");
    return client;
  }

  void send(String lines) throws IOException {
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

  /** Waits for a PONG: the connection is open and the server has handled all earlier lines. */
  void ping(String token) throws IOException {
    send("PING :" + token);
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

  /** Closes the output; the input stays open. */
  void endOutput() throws IOException {
    socket.shutdownOutput();
  }

  /** Closes with a TCP reset. */
  void reset() throws IOException {
    socket.setSoLinger(true, 0);
    socket.close();
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
