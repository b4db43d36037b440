package org.klatch.web;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedInputStream;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import org.klatch.exchange.web.HttpReply;

/** A client of a site, over one connection. */
public final class SiteClient implements Closeable {
  private final Socket socket = new Socket();
  private final InputStream in;

  /** Connects with a small receive buffer, which fills up quickly. */
  public SiteClient(int port) throws IOException {
    socket.setReceiveBufferSize(16 * 1024);
    socket.setSoTimeout(30_000);
    socket.setTcpNoDelay(true);
    socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
    in = new BufferedInputStream(socket.getInputStream());
  }

  /** A GET of HTTP/1.1; each header ends with CR LF. */
  public static String get(String target, String... headers) {
    return "GET " + target + " HTTP/1.1\r\nHost: h\r\n" + String.join("", headers) + "\r\n";
  }

  /** A POST of a form by a user. */
  public static String post(String path, long user, int client) {
    String form =
        "urlroot=/file_set/&dir=%d&class=%s&num=%s&client=%d"
            .formatted(
                Integer.parseInt(path.substring(13, 18)), path.charAt(24), path.charAt(26), client);
    return "POST /dynamic HTTP/1.1\r\nHost: h\r\nCookie: my_cookie=user_id="
        + (10_000 + user)
        + "&last_ad=0\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: "
        + form.length()
        + "\r\n\r\n"
        + form;
  }

  public void send(String requests) throws IOException {
    socket.getOutputStream().write(requests.getBytes(ISO_8859_1));
  }

  /** Waits for the first byte of the next reply. */
  public void awaitReply() throws IOException {
    in.mark(1);
    assertTrue(in.read() >= 0, "the connection ended");
    in.reset();
  }

  /** Reads the next reply. */
  public HttpReply reply() throws IOException {
    return HttpReply.read(in);
  }

  /** Sends a request and reads its reply. */
  public HttpReply ask(String request) throws IOException {
    send(request);
    return reply();
  }

  /** Checks that the server has closed the connection and sent nothing else. */
  public void expectEnd() throws IOException {
    assertEquals(-1, in.read());
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
