package org.klatch.tls;

import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import org.klatch.service.ConnectionHandler;
import org.klatch.service.Outbox;
import org.klatch.service.Service;

/** A service within TLS. Every I/O model serves it like the plain one. */
public final class TlsService implements Service {
  private final Service plain;
  private final SSLContext context;
  private final Buffers buffers = new Buffers();

  /**
   * Creates the service.
   *
   * @param plain handles the decrypted bytes
   * @param context the server's certificate and key
   */
  public TlsService(Service plain, SSLContext context) {
    this.plain = plain;
    this.context = context;
  }

  @Override
  public ConnectionHandler open(String host, Outbox outbox, int bufferBytes) {
    SSLEngine engine = context.createSSLEngine();
    engine.setSSLParameters(TlsContexts.parameters());
    engine.setUseClientMode(false);
    TlsConnection connection = new TlsConnection(engine, buffers, outbox);
    return new TlsHandler(connection, buffers, plain.open(host, connection, 0));
  }

  @Override
  public boolean repliesOnly() {
    return plain.repliesOnly();
  }

  /** Returns no bytes: none may be sent without encryption. */
  @Override
  public byte[] closingLine(String reason) {
    return new byte[0];
  }
}
