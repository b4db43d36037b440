package org.klatch.server;

import java.io.IOException;
import java.net.Socket;

/** Rejects a new connection. */
public final class Rejection {
  /** The reason when {@link AdmissionControl} is full. */
  public static final String TOO_MANY = "Too many unregistered connections";

  private Rejection() {}

  /**
   * Sends the closing line of the service and closes. The send buffer of a new connection has room,
   * so this is quick.
   */
  static void reject(Socket socket, byte[] closingLine) {
    try (socket) {
      socket.getOutputStream().write(closingLine);
    } catch (IOException e) {
      // the client has closed it already
    }
  }
}
