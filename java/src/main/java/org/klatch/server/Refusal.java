package org.klatch.server;

import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;

/** Turns away a connection that nobody serves yet. */
final class Refusal {
  private Refusal() {}

  /** Says why and closes it. A new connection takes so few bytes without blocking. */
  static void send(Socket socket, String reason) {
    try (socket) {
      String line = "ERROR :Closing link: (" + reason + ")\r\n";
      socket.getOutputStream().write(line.getBytes(StandardCharsets.US_ASCII));
    } catch (IOException e) {
      // it has gone by itself
    }
  }
}
