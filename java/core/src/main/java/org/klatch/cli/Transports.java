package org.klatch.cli;

/** The option {@code transport} of servers and crowds. */
final class Transports {
  private Transports() {}

  /** Reads the option; true for WebSocket. */
  static boolean isWebSocket(Arguments arguments) throws StartupException {
    String transport =
        arguments.text(
            "transport", "plain|ws", "plain", "IRC lines over TCP, or in WebSocket messages");
    return switch (transport) {
      case "plain" -> false;
      case "ws" -> true;
      default ->
          throw new StartupException.Usage("transport must be plain or ws, got " + transport);
    };
  }
}
