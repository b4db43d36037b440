package org.klatch.crowd;

import java.io.IOException;

/**
 * Signals that a server breaks TLS or WebSocket, or closes it with an error. The message is for
 * users.
 */
final class TransportException extends IOException {
  private static final long serialVersionUID = 1;

  TransportException(String message) {
    super(message);
  }
}
