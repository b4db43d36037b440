package org.klatch.websocket;

import java.util.Base64;
import java.util.List;

/** The client's side of the opening handshake (RFC 6455, section 4.1). */
public final class ClientHandshake {
  /** Bytes of a key. */
  public static final int KEY_BYTES = 16;

  private static final String ANSWERED = "the server answered the WebSocket handshake ";

  private final String host;
  private final String path;
  private final Subprotocol offered;
  private final String key;

  /**
   * Creates a handshake.
   *
   * @param host name or address of the server
   * @param path path of the WebSocket, in ASCII
   * @param offered the only subprotocol that is offered; null for none
   * @param key {@link #KEY_BYTES} random bytes
   */
  public ClientHandshake(String host, int port, String path, Subprotocol offered, byte[] key) {
    this.host = (host.contains(":") ? "[" + host + "]" : host) + ":" + port;
    this.path = path;
    this.offered = offered;
    this.key = Base64.getEncoder().encodeToString(key);
  }

  /** Returns the request, in ASCII. */
  public String request() {
    String list = offered == null ? "" : "Sec-WebSocket-Protocol: " + offered.wireName + "\r\n";
    return String.join(
        "\r\n",
        "GET " + path + " HTTP/1.1",
        "Host: " + host,
        "Upgrade: websocket",
        "Connection: Upgrade",
        "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Key: " + key,
        list + "\r\n");
  }

  /** Checks the head of the response. Returns null, or for users what is wrong with it. */
  public String check(String response) {
    HttpHead head = HttpHead.parse(response);
    if (head == null || !head.startLine().matches("HTTP/1\\.1 101(| .*)")) {
      return unexpected(response);
    }
    if (!head.hasToken("upgrade", "websocket") || !head.hasToken("connection", "upgrade")) {
      return ANSWERED + "without \"Upgrade: websocket\" and \"Connection: Upgrade\"";
    }
    if (!AcceptValue.of(key).equals(head.single("sec-websocket-accept"))) {
      return ANSWERED + "without the Sec-WebSocket-Accept of the key";
    }
    if (head.has("sec-websocket-extensions")) {
      String extensions = String.join(", ", head.list("sec-websocket-extensions"));
      return "the server agreed to extensions, and none were offered: " + extensions;
    }
    return checkSubprotocol(head.list("sec-websocket-protocol"));
  }

  /** Describes a response that does not begin like the right one. */
  public static String unexpected(String response) {
    return ANSWERED + "with: " + response.lines().findFirst().orElse("");
  }

  private String checkSubprotocol(List<String> agreed) {
    List<String> expected = offered == null ? List.of() : List.of(offered.wireName);
    if (agreed.equals(expected)) {
      return null;
    }
    return "the server agreed to "
        + (agreed.isEmpty() ? "no subprotocol" : "subprotocol " + String.join(", ", agreed))
        + "; it was offered "
        + (offered == null ? "none" : offered.wireName);
  }
}
