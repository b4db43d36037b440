package org.klatch.server;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;

/** A scripted WebSocket client on a plain socket, for one test thread. */
final class WebSocketClient implements AutoCloseable {
  /** The fields of a valid request, with the key of RFC 6455. */
  static final String FIELDS =
      String.join(
          "\r\n",
          "Host: test",
          "Upgrade: websocket",
          "Connection: keep-alive, Upgrade",
          "Sec-WebSocket-Version: 13",
          "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
          "");

  private static final int TEXT = 0x81;
  private static final int BINARY = 0x82;
  private static final int CLOSE = 0x88;

  /**
   * A frame from the server.
   *
   * @param start its first byte
   * @param text the payload, one character for each byte
   */
  record Frame(int start, String text) {}

  private final Socket socket;
  private final DataInputStream in;

  WebSocketClient(int port) throws IOException {
    socket = new Socket(InetAddress.getLoopbackAddress(), port);
    socket.setSoTimeout(30_000);
    in = new DataInputStream(socket.getInputStream());
  }

  /** Connects and opens a WebSocket, with a list of subprotocols or an empty one. */
  static WebSocketClient opened(int port, String subprotocols) throws IOException {
    WebSocketClient client = new WebSocketClient(port);
    String list = subprotocols.isEmpty() ? "" : "Sec-WebSocket-Protocol: " + subprotocols + "\r\n";
    String head = client.request("GET / HTTP/1.1\r\n" + FIELDS + list);
    assertTrue(head.startsWith("HTTP/1.1 101 "), head);
    return client;
  }

  /** As {@link #opened}, and registers and joins #a. */
  static WebSocketClient joined(int port, String nick, String subprotocols) throws IOException {
    WebSocketClient client = opened(port, subprotocols);
    client.sendText("NICK " + nick);
    client.sendText("USER " + nick + " 0 * :x");
    client.sendText("JOIN #a");
    client.skipTo(":test 366 " + nick + " #a :End of /NAMES list");
    return client;
  }

  /** Sends a head and returns the head of the response. */
  String request(String head) throws IOException {
    send((head + "\r\n").getBytes(ISO_8859_1));
    return readHead();
  }

  String readHead() throws IOException {
    StringBuilder response = new StringBuilder();
    while (response.indexOf("\r\n\r\n") < 0) {
      response.append((char) in.readUnsignedByte());
    }
    return response.toString();
  }

  void send(byte[] bytes) throws IOException {
    socket.getOutputStream().write(bytes);
  }

  void sendText(String text) throws IOException {
    send(frame(TEXT, text.getBytes(UTF_8)));
  }

  /** Encodes a masked frame. */
  static byte[] frame(int start, byte[] payload) {
    byte[] key = {1, (byte) 200, 3, 77};
    ByteArrayOutputStream frame = new ByteArrayOutputStream();
    frame.write(start);
    if (payload.length < 126) {
      frame.write(0x80 | payload.length);
    } else {
      frame.write(0x80 | 126);
      frame.write(payload.length >> 8);
      frame.write(payload.length);
    }
    frame.writeBytes(key);
    for (int i = 0; i < payload.length; i++) {
      frame.write(payload[i] ^ key[i % 4]);
    }
    return frame.toByteArray();
  }

  Frame next() throws IOException {
    return next(in.readUnsignedByte());
  }

  private Frame next(int start) throws IOException {
    int length = in.readUnsignedByte();
    if (length == 126) {
      length = in.readUnsignedShort();
    }
    byte[] payload = new byte[length];
    in.readFully(payload);
    return new Frame(start, new String(payload, ISO_8859_1));
  }

  /** Reads on to a message with this text, and returns its frame. */
  Frame skipTo(String text) throws IOException {
    Frame frame;
    do {
      frame = next();
      assertTrue(frame.start == TEXT || frame.start == BINARY, frame.toString());
    } while (!frame.text.equals(text));
    return frame;
  }

  /**
   * Sends messages to the room, {@code burst} at a time, until {@code nick}, who reads nothing, is
   * seen to quit.
   */
  void sendUntilQuit(String nick, int burst) throws IOException {
    byte[] message = frame(TEXT, ("PRIVMSG #a :" + "x".repeat(400)).getBytes(UTF_8));
    String quit = ":" + nick + "!" + nick + "@127.0.0.1 QUIT :SendQ exceeded";
    String seen = "";
    for (int round = 0; !seen.equals(quit); round++) {
      assertTrue(round < 2000, "the slow reader was never closed");
      ByteArrayOutputStream messages = new ByteArrayOutputStream();
      for (int i = 0; i < burst; i++) {
        messages.writeBytes(message);
      }
      messages.writeBytes(frame(TEXT, ("PING " + round).getBytes(UTF_8)));
      send(messages.toByteArray());
      do {
        seen = next().text();
      } while (!seen.equals(quit) && !seen.startsWith(":test PONG "));
    }
  }

  /** Waits for a PONG of IRC: the server has handled all earlier messages. */
  void ping(String token) throws IOException {
    sendText("PING :" + token);
    skipTo(":test PONG test :" + token);
  }

  /** The next frame must be a close frame with this code, and the connection must end. */
  void expectClose(int code) throws IOException {
    String payload = "" + (char) (code >> 8) + (char) (code & 0xff);
    assertEquals(new Frame(CLOSE, payload), next());
    expectEnd();
  }

  /** Reads to the end of the connection, which must have no further byte. */
  void expectEnd() throws IOException {
    assertEquals(-1, in.read());
  }

  /** Reads to the end of the connection, which must be the end of a frame. */
  void skipToEnd() throws IOException {
    int start;
    while ((start = in.read()) >= 0) {
      next(start);
    }
  }

  /** Reads to the end of the connection. */
  String rest() throws IOException {
    return new String(in.readAllBytes(), ISO_8859_1);
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
