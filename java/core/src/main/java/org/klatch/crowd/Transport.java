package org.klatch.crowd;

import javax.net.ssl.SSLContext;
import org.klatch.websocket.Subprotocol;

/**
 * What carries the lines of a connection.
 *
 * @param webSocket whether each line is a WebSocket message; otherwise TCP carries them
 * @param subprotocol the subprotocol that is offered; null for none
 * @param path the path of the WebSocket
 * @param tls the authorities that a client trusts; null without TLS
 */
public record Transport(boolean webSocket, Subprotocol subprotocol, String path, SSLContext tls) {
  /** Lines over TCP. */
  public static final Transport PLAIN = new Transport(false, null, "/", null);
}
