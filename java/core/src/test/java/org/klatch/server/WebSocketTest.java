package org.klatch.server;

import java.util.List;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

/** Runs the rules of WebSocket on the models of this jar that this Java supports. */
@ParameterizedClass
@MethodSource("all")
class WebSocketTest extends WebSocketRules {
  WebSocketTest(ServingRules.Variant variant) {
    super(variant);
  }

  static List<ServingRules.Variant> all() {
    return ServingTest.all();
  }
}
