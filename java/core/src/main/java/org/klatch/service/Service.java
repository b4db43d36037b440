package org.klatch.service;

/** A workload: what a server does with the bytes of its connections. */
public interface Service {
  /**
   * Opens a new connection. Callable from any thread.
   *
   * @param host host of the client, such as its IP address
   * @param outbox receives the output for this connection
   * @param bufferBytes size of the handler's buffer, or 0 for a caller that feeds buffers of its
   *     own; the handler may choose a larger one
   */
  ConnectionHandler open(String host, Outbox outbox, int bufferBytes);

  /**
   * Whether a connection gets output only in reply to its own input, from the thread that feeds it.
   * A server then needs no send queue: it reads no further input while a reply is unsent.
   */
  boolean repliesOnly();

  /** Encodes the last bytes for a client whose connection the server closes; may be empty. */
  byte[] closingLine(String reason);
}
