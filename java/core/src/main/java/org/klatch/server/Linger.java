package org.klatch.server;

import java.io.IOException;
import java.net.Socket;

/** Lingering close of a connection with blocking reads. */
final class Linger {
  private static final long MAX_MS = 1000;

  private Linger() {}

  /**
   * Reads until the client closes, up to a second. Closing with unread bytes would reset the
   * connection, and the client would lose the last line or reply.
   *
   * @param scratch receives the bytes
   */
  static void discardInput(Socket socket, byte[] scratch) throws IOException {
    long end = System.nanoTime() + MAX_MS * 1_000_000;
    int left;
    do {
      left = (int) ((end - System.nanoTime()) / 1_000_000);
      socket.setSoTimeout(Math.max(1, left));
    } while (left > 0 && socket.getInputStream().read(scratch) >= 0);
  }
}
