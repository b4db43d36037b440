package org.klatch.chat;

/**
 * Takes the lines for one connection. It is called with locks held, so no method may block or call
 * back into the session.
 */
public interface Outbox {
  /**
   * Takes a line for the connection.
   *
   * @param line a whole line, CR LF included; shared with other connections, so it must not be
   *     changed
   */
  void send(byte[] line);

  /** Closes the connection once all earlier lines are written; later lines are dropped. */
  void close();
}
