package org.klatch.netty;

import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.handler.ssl.OpenSsl;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import java.io.IOException;
import java.nio.file.Path;
import java.util.function.Supplier;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLException;
import org.klatch.tls.TlsProvider;

/**
 * BoringSSL by netty-tcnative, behind the same interface as the TLS of the JDK. The jar has it for
 * x86_64 only. BoringSSL has all suites of TLS 1.3, so the client selects the one that it offers.
 */
public final class OpenSslTls implements TlsProvider {
  @Override
  public String name() {
    return "openssl";
  }

  @Override
  public Supplier<SSLEngine> engines(Path chain, Path key) throws IOException {
    if (!OpenSsl.isAvailable()) {
      throw new IOException(
          "netty-tcnative does not run here: " + OpenSsl.unavailabilityCause().getMessage());
    }
    SslContext context;
    try {
      context =
          SslContextBuilder.forServer(chain.toFile(), key.toFile())
              .sslProvider(SslProvider.OPENSSL)
              .protocols("TLSv1.3")
              .build();
    } catch (SSLException | IllegalArgumentException e) {
      throw new IOException(
          "cannot use certificate " + chain + " with key " + key + ": " + e.getMessage(), e);
    }
    // The engine frees its memory when both directions are closed, or with its object.
    return () -> context.newEngine(UnpooledByteBufAllocator.DEFAULT);
  }
}
