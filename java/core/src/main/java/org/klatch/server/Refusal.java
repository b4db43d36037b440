package org.klatch.server;

import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;

/** Turns away a connection that nobody serves yet. */
public final class Refusal {
  /** Why, when {@link HalfOpen} takes nobody. */
  public static final String TOO_MANY = "Too many unregistered connections";

  private Refusal() {}

  /** What is said. */
  public static byte[] line(String reason) {
    return ("ERROR :Closing link: (" + reason + ")\r\n").getBytes(StandardCharsets.US_ASCII);
  }

  /** Says why and closes it. A new connection takes so few bytes without blocking. */
  static void send(Socket socket, String reason) {
    try (socket) {
      socket.getOutputStream().write(line(reason));
    } catch (IOException e) {
      // it has gone by itself
    }
  }
}
