package org.klatch.server;

import java.util.List;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

/** Runs the rules of TLS on the models of this jar. */
@ParameterizedClass
@MethodSource("all")
class TlsTest extends TlsRules {
  TlsTest(ServingRules.Variant variant) {
    super(variant);
  }

  static List<ServingRules.Variant> all() {
    return ServingTest.all();
  }
}
