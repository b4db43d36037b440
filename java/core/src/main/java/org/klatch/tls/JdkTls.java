package org.klatch.tls;

import java.io.IOException;
import java.nio.file.Path;
import java.util.function.Supplier;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;

/** The TLS of the JDK. */
public final class JdkTls implements TlsProvider {
  @Override
  public String name() {
    return "jdk";
  }

  @Override
  public Supplier<SSLEngine> engines(Path chain, Path key) throws IOException {
    SSLContext context = TlsContexts.server(chain, key);
    return () -> {
      SSLEngine engine = context.createSSLEngine();
      engine.setSSLParameters(TlsContexts.parameters());
      engine.setUseClientMode(false);
      return engine;
    };
  }
}
