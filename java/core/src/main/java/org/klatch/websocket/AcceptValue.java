package org.klatch.websocket;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;

/** The field {@code Sec-WebSocket-Accept}, by which a server shows that it has read the key. */
final class AcceptValue {
  private static final String SUFFIX = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"; // RFC 6455

  private AcceptValue() {}

  /** Computes the value for the key of a client. */
  static String of(String key) {
    try {
      MessageDigest sha1 = MessageDigest.getInstance("SHA-1");
      byte[] digest = sha1.digest((key + SUFFIX).getBytes(ISO_8859_1));
      return Base64.getEncoder().encodeToString(digest);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has SHA-1", e);
    }
  }
}
