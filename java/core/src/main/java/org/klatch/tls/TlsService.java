package org.klatch.tls;

import java.util.function.Supplier;
import javax.net.ssl.SSLEngine;
import org.klatch.service.ConnectionHandler;
import org.klatch.service.Outbox;
import org.klatch.service.Service;

/** A service within TLS. Every I/O model serves it like the plain one. */
public final class TlsService implements Service {
  private final Service plain;
  private final Supplier<SSLEngine> engines;
  private final Buffers buffers = new Buffers();

  /**
   * Creates the service.
   *
   * @param plain handles the decrypted bytes
   * @param engines makes the server's side of a connection
   */
  public TlsService(Service plain, Supplier<SSLEngine> engines) {
    this.plain = plain;
    this.engines = engines;
  }

  @Override
  public ConnectionHandler open(String host, Outbox outbox, int bufferBytes) {
    TlsConnection connection = new TlsConnection(engines.get(), buffers, outbox);
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
