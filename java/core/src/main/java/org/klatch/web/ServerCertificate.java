package org.klatch.web;

import java.io.IOException;
import java.nio.file.Path;
import javax.net.ssl.SSLContext;
import org.klatch.tls.TlsContexts;

/**
 * The files of a server with TLS, in PEM.
 *
 * @param chain the certificate chain, the server's own certificate first
 * @param key the private key, PKCS #8
 */
public record ServerCertificate(Path chain, Path key) {
  /**
   * The context of the server.
   *
   * @throws IOException if a file cannot be used; the message is for users
   */
  public SSLContext context() throws IOException {
    return TlsContexts.server(chain, key);
  }
}
