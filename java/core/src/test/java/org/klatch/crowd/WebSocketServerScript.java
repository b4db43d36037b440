package org.klatch.crowd;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.Base64;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A server that gives every client the same answer, and records what the first one sends. */
final class WebSocketServerScript implements AutoCloseable {
  /** A response that agrees to text.ircv3.net. */
  static final String ACCEPT =
      String.join(
          "\r\n",
          "HTTP/1.1 101 Switching Protocols",
          "Upgrade: websocket",
          "Connection: Upgrade",
          "Sec-WebSocket-Accept: {accept}",
          "Sec-WebSocket-Protocol: text.ircv3.net",
          "\r\n");

  private static final long PAUSE_MS = 100;
  private static final Pattern KEY = Pattern.compile("Sec-WebSocket-Key: (.*)\r\n");

  /** The request of each client. */
  final BlockingQueue<String> requests = new LinkedBlockingQueue<>();

  /** The bytes after the request, of each client once it has closed. */
  final BlockingQueue<byte[]> received = new LinkedBlockingQueue<>();

  private final ServerSocket listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
  private final String response;
  private final byte[][] frames;

  /**
   * Starts the server.
   *
   * @param response the head of its response, with a placeholder {@code {accept}}
   * @param frames what follows the response, with a pause after each; it closes its output then
   */
  WebSocketServerScript(String response, byte[]... frames) throws IOException {
    this.response = response;
    this.frames = frames;
    Thread acceptor = new Thread(this::accept, "scripted server");
    acceptor.setDaemon(true);
    acceptor.start();
  }

  int port() {
    return listener.getLocalPort();
  }

  private void accept() {
    while (!listener.isClosed()) {
      try (Socket socket = listener.accept()) {
        serve(socket);
      } catch (IOException | GeneralSecurityException | InterruptedException e) {
        // the client or the test has ended
      }
    }
  }

  private void serve(Socket socket)
      throws IOException, GeneralSecurityException, InterruptedException {
    InputStream in = socket.getInputStream();
    ByteArrayOutputStream head = new ByteArrayOutputStream();
    while (!head.toString(ISO_8859_1).endsWith("\r\n\r\n")) {
      head.write(in.read());
    }
    String request = head.toString(ISO_8859_1);
    requests.add(request);
    Matcher key = KEY.matcher(request);
    String value = (key.find() ? key.group(1) : "") + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
    byte[] digest = MessageDigest.getInstance("SHA-1").digest(value.getBytes(ISO_8859_1));
    String accept = Base64.getEncoder().encodeToString(digest);
    socket.getOutputStream().write(response.replace("{accept}", accept).getBytes(ISO_8859_1));
    for (byte[] part : frames) {
      socket.getOutputStream().write(part);
      Thread.sleep(PAUSE_MS);
    }
    socket.shutdownOutput();
    received.add(in.readAllBytes());
  }

  @Override
  public void close() throws IOException {
    listener.close();
  }
}
