package org.klatch.websocket;

/** The subprotocols of IRC over WebSocket. Without one, messages have the type text. */
public enum Subprotocol {
  /** A line is a message of type text, in UTF-8. */
  TEXT("text.ircv3.net"),
  /** A line is a message of type binary, of any bytes. */
  BINARY("binary.ircv3.net");

  /** Its name in handshakes, which is case-sensitive. */
  public final String wireName;

  Subprotocol(String wireName) {
    this.wireName = wireName;
  }

  /** Returns the subprotocol with this name, or null. */
  public static Subprotocol find(String name) {
    for (Subprotocol candidate : values()) {
      if (candidate.wireName.equals(name)) {
        return candidate;
      }
    }
    return null;
  }
}
