package org.klatch.crowd;

import java.io.IOException;

/** Signals that a server breaks WebSocket or closes it with an error. The message is for users. */
final class WebSocketException extends IOException {
  private static final long serialVersionUID = 1;

  WebSocketException(String message) {
    super(message);
  }
}
