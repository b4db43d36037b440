package org.klatch.service;

import java.nio.ByteBuffer;

/**
 * Takes the output for one connection. The methods {@code send} and {@code close} are called with
 * locks held, so they may not block or call back into the handler.
 */
public interface Outbox {
  /**
   * Takes a line for the connection, or a part of a reply.
   *
   * @param line a whole line, CR LF included, or any bytes of a reply; shared with other
   *     connections, so it must not be changed
   */
  void send(byte[] line);

  /**
   * Whether later lines are taken. A handler checks this before work whose only result is replies
   * to this connection.
   */
  default boolean isOpen() {
    return true;
  }

  /**
   * Takes a reply to the input that is being handled, and consumes {@code bytes}. The caller may
   * change the buffer afterwards. May block.
   */
  default void reply(ByteBuffer bytes) {
    byte[] copy = new byte[bytes.remaining()];
    bytes.get(copy);
    send(copy);
  }

  /** Closes the connection once all earlier lines are written; later lines are dropped. */
  void close();
}
