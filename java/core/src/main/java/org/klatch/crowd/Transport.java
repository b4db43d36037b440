package org.klatch.crowd;

import org.klatch.websocket.Subprotocol;

/**
 * What carries the lines of a connection.
 *
 * @param webSocket whether each line is a WebSocket message; otherwise TCP carries them
 * @param subprotocol the subprotocol that is offered; null for none
 * @param path the path of the WebSocket
 */
public record Transport(boolean webSocket, Subprotocol subprotocol, String path) {
  /** Lines over TCP. */
  public static final Transport PLAIN = new Transport(false, null, "/");
}
