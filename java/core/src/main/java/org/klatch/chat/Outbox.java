package org.klatch.chat;

/**
 * Where the lines for one connection go. Called with locks held: no method may block, or call back.
 */
public interface Outbox {
  /**
   * Takes a line for the connection.
   *
   * @param line a whole line, CR LF included; shared with other connections, never to be changed
   */
  void send(byte[] line);

  /** Closes the connection once the lines taken before are out. Lines after it are dropped. */
  void close();
}
