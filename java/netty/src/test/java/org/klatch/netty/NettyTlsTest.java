package org.klatch.netty;

import java.util.List;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;
import org.klatch.server.ServingRules;
import org.klatch.server.TlsRules;

/** Runs the rules of TLS on the models of this jar. */
@ParameterizedClass
@MethodSource("all")
class NettyTlsTest extends TlsRules {
  NettyTlsTest(ServingRules.Variant variant) {
    super(variant);
  }

  static List<ServingRules.Variant> all() {
    return NettyTest.all();
  }
}
