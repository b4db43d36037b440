package org.klatch.service;

import java.nio.ByteBuffer;

/** Handles the input of one connection. One thread at a time calls its methods. */
public interface ConnectionHandler {
  /** The buffer that the caller may receive into, from {@link #fillAt()} on. */
  byte[] buffer();

  /** Index in {@link #buffer()} of the next received byte; less than the buffer's length. */
  int fillAt();

  /**
   * Handles {@code count} bytes, which the caller has put at {@link #fillAt()}.
   *
   * @param onHandled called after each message or request that does not end the connection
   * @return false once the connection has ended; no further input may be passed in then
   */
  boolean feed(int count, Runnable onHandled);

  /** As the other method, for bytes in a buffer of the caller; consumes them unless it ends. */
  default boolean feed(ByteBuffer input, Runnable onHandled) {
    while (input.hasRemaining()) {
      int at = fillAt();
      int count = Math.min(input.remaining(), buffer().length - at);
      input.get(buffer(), at, count);
      if (!feed(count, onHandled)) {
        return false;
      }
    }
    return true;
  }

  /** Whether the connection has registered, and is no longer subject to the half-open limits. */
  boolean registered();

  /**
   * Number of the request of which only a part has arrived, from 1; 0 between requests. Successive
   * requests have different numbers. A server closes a connection whose request stays incomplete
   * for too long.
   */
  default long incompleteRequest() {
    return 0;
  }

  /**
   * Ends the connection because its client takes too long. The client gets the reason, if the
   * protocol has one.
   */
  default void expire(String reason) {
    end(reason);
  }

  /**
   * Ends the connection and closes its outbox. Does nothing the second time.
   *
   * @param reason text for users, such as {@code Connection closed}
   */
  void end(String reason);
}
