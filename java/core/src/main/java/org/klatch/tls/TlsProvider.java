package org.klatch.tls;

import java.io.IOException;
import java.nio.file.Path;
import java.util.function.Supplier;
import javax.net.ssl.SSLEngine;

/**
 * An implementation of TLS for servers. {@link java.util.ServiceLoader} lists those of a jar,
 * beside that of the JDK.
 */
public interface TlsProvider {
  /** Its name on the command line. */
  String name();

  /**
   * Creates a source of engines for TLS 1.3 with one cipher suite, one for each connection.
   *
   * @param chain a PEM file with the chain, the server's own certificate first
   * @param key a PEM file with the private key in PKCS #8
   * @throws IOException if a file or the implementation cannot be used; the message is for users
   */
  Supplier<SSLEngine> engines(Path chain, Path key) throws IOException;
}
