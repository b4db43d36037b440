package org.klatch.websocket;

/** Codes of close frames (RFC 6455, section 7.4). */
public final class CloseCode {
  /** The connection has served its purpose. */
  public static final int NORMAL = 1000;

  /** The peer broke the protocol. */
  public static final int PROTOCOL_ERROR = 1002;

  /** A text, or the reason of a close frame, is not UTF-8. */
  public static final int NOT_UTF8 = 1007;

  /** A message breaks a rule of the application. */
  public static final int POLICY_VIOLATION = 1008;

  /** A message is larger than the receiver accepts. */
  public static final int TOO_LARGE = 1009;

  private CloseCode() {}

  /** Whether a close frame may contain the code; others are reserved or never sent. */
  static boolean isValid(int code) {
    return (code >= 1000 && code <= 1003)
        || (code >= 1007 && code <= 1011)
        || (code >= 3000 && code <= 4999);
  }
}
