package org.klatch.server;

import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;

/** Rejects a new connection with an ERROR line. */
public final class Rejection {
  /** The reason when {@link AdmissionControl} is full. */
  public static final String TOO_MANY = "Too many unregistered connections";

  private Rejection() {}

  /** Encodes the line that precedes every close by the server. */
  public static byte[] closingLine(String reason) {
    return ("ERROR :Closing link: (" + reason + ")\r\n").getBytes(StandardCharsets.US_ASCII);
  }

  /**
   * Sends the reason and closes. The send buffer of a new connection has room, so this is quick.
   */
  static void reject(Socket socket, String reason) {
    try (socket) {
      socket.getOutputStream().write(closingLine(reason));
    } catch (IOException e) {
      // the client has closed it already
    }
  }
}
