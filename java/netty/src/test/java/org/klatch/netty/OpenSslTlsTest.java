package org.klatch.netty;

import java.util.List;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;
import org.klatch.server.ServingRules;
import org.klatch.server.TlsRules;
import org.klatch.tls.TlsProvider;

/** Runs the rules of TLS with netty-tcnative. */
@ParameterizedClass
@MethodSource("all")
class OpenSslTlsTest extends TlsRules {
  OpenSslTlsTest(ServingRules.Variant variant) {
    super(variant);
  }

  static List<ServingRules.Variant> all() {
    return NettyTest.all();
  }

  /** BoringSSL has all suites of TLS 1.3. */
  @Override
  protected boolean restrictsSuites() {
    return false;
  }

  @Override
  protected TlsProvider provider() {
    return new OpenSslTls();
  }
}
