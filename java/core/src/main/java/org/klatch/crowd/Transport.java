package org.klatch.crowd;

import java.io.IOException;
import java.net.Socket;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.SSLSocketFactory;
import org.klatch.tls.TlsContexts;
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

  /**
   * Performs the handshake of TLS on a connection, and checks the server's name or address.
   *
   * @return the connection within TLS; without TLS the same one
   * @throws TransportException if the handshake fails
   */
  Socket secure(Socket connection, String host, int port) throws IOException {
    if (tls == null) {
      return connection;
    }
    SSLSocketFactory factory = tls.getSocketFactory();
    SSLSocket secured = (SSLSocket) factory.createSocket(connection, host, port, false);
    SSLParameters parameters = TlsContexts.parameters();
    parameters.setEndpointIdentificationAlgorithm("HTTPS");
    secured.setSSLParameters(parameters);
    try {
      secured.startHandshake();
    } catch (SSLException e) {
      throw new TransportException("the TLS handshake failed: " + TlsErrors.explain(e));
    }
    return secured;
  }
}
