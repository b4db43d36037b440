package org.klatch.exchange.web;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

/** Encodes replies in HTTP/1.1, for the servers of this project. */
final class ReplyEncoder {
  /** A body of at least so many bytes is sent by itself: to copy it costs more than a write. */
  private static final int ALONE_BYTES_MIN = 16 * 1024;

  private ReplyEncoder() {}

  /**
   * The bytes before the body, and the body after them if it is small.
   *
   * @see #isBodyAlone
   */
  static byte[] encode(Reply reply, boolean keepAlive) {
    byte[] head = head(reply, keepAlive).getBytes(ISO_8859_1);
    if (isBodyAlone(reply)) {
      return head;
    }
    byte[] body = reply.body();
    byte[] both = new byte[head.length + body.length];
    System.arraycopy(head, 0, both, 0, head.length);
    System.arraycopy(body, 0, both, head.length, body.length);
    return both;
  }

  /** Whether {@link #encode} leaves the body to the caller. */
  static boolean isBodyAlone(Reply reply) {
    return reply.body().length >= ALONE_BYTES_MIN;
  }

  /** The head has no date, because the site has no clock (RFC 9110, section 6.6.1). */
  static String head(Reply reply, boolean keepAlive) {
    Status status = reply.status();
    StringBuilder head = new StringBuilder(256);
    head.append("HTTP/1.1 ").append(status.code()).append(' ').append(status.reason());
    head.append("\r\nServer: klatch");
    reply.forEachHeader(
        (name, value) -> head.append("\r\n").append(name).append(": ").append(value));
    head.append("\r\nConnection: ").append(keepAlive ? "keep-alive" : "close");
    return head.append("\r\n\r\n").toString();
  }
}
