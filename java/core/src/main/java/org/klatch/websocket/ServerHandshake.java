package org.klatch.websocket;

import java.util.Base64;
import java.util.Objects;

/** The server's side of the opening handshake (RFC 6455, section 4.2). */
final class ServerHandshake {
  private static final int KEY_BYTES = 16;

  /**
   * The answer to a request.
   *
   * @param response the response, in ASCII
   * @param accepted whether frames follow it; otherwise the server closes the connection
   * @param subprotocol the agreed subprotocol; null without one
   */
  record Answer(String response, boolean accepted, Subprotocol subprotocol) {}

  private ServerHandshake() {}

  /** Answers a head that is complete or {@linkplain HeadReader#isTooLong too long}. */
  static Answer answer(HeadReader reader) {
    if (reader.isTooLong()) {
      return refuse(
          "431 Request Header Fields Too Large",
          "",
          "The head has more than " + HeadReader.MAX_BYTES + " bytes.");
    }
    HttpHead head = HttpHead.parse(reader.head());
    if (head == null || !head.startLine().matches("[!-~]+ [!-~]+ HTTP/1\\.1")) {
      return badRequest("This is not an HTTP/1.1 request.");
    }
    if (!head.startLine().startsWith("GET ")) {
      return badRequest("The method must be GET.");
    }
    if (head.single("host") == null) {
      return badRequest("The request needs one field Host.");
    }
    if (!head.hasToken("upgrade", "websocket") || !head.hasToken("connection", "upgrade")) {
      return badRequest(
          "The request needs the fields \"Upgrade: websocket\" and \"Connection: Upgrade\".");
    }
    if (!Objects.equals(head.single("sec-websocket-version"), "13")) {
      return refuse(
          "426 Upgrade Required",
          "Sec-WebSocket-Version: 13\r\n",
          "The only supported version of WebSocket is 13.");
    }
    String key = head.single("sec-websocket-key");
    if (key == null || !isKey(key)) {
      return badRequest("The field Sec-WebSocket-Key must have 16 bytes in base64.");
    }
    return accept(key, choose(head));
  }

  /** Returns the first subprotocol of the client's list that is supported, or null. */
  private static Subprotocol choose(HttpHead head) {
    return head.list("sec-websocket-protocol").stream()
        .map(Subprotocol::find)
        .filter(Objects::nonNull)
        .findFirst()
        .orElse(null);
  }

  private static boolean isKey(String key) {
    try {
      byte[] bytes = Base64.getDecoder().decode(key);
      // The decoder accepts a missing padding, and bits after the last byte.
      return bytes.length == KEY_BYTES && Base64.getEncoder().encodeToString(bytes).equals(key);
    } catch (IllegalArgumentException e) {
      return false;
    }
  }

  private static Answer accept(String key, Subprotocol subprotocol) {
    String agreed =
        subprotocol == null ? "" : "Sec-WebSocket-Protocol: " + subprotocol.wireName + "\r\n";
    String response =
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            + "Sec-WebSocket-Accept: "
            + AcceptValue.of(key)
            + "\r\n"
            + agreed
            + "\r\n";
    return new Answer(response, true, subprotocol);
  }

  private static Answer badRequest(String text) {
    return refuse("400 Bad Request", "", text);
  }

  private static Answer refuse(String status, String fields, String text) {
    String response =
        "HTTP/1.1 "
            + status
            + "\r\n"
            + fields
            + "Connection: close\r\nContent-Type: text/plain\r\nContent-Length: "
            + (text.length() + 1)
            + "\r\n\r\n"
            + text
            + "\n";
    return new Answer(response, false, null);
  }
}
