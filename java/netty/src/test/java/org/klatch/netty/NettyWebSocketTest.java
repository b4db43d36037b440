package org.klatch.netty;

import java.util.List;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;
import org.klatch.server.ServingRules;
import org.klatch.server.WebSocketRules;

/** Runs the rules of WebSocket on Netty's event loops. */
@ParameterizedClass
@MethodSource("all")
class NettyWebSocketTest extends WebSocketRules {
  NettyWebSocketTest(ServingRules.Variant variant) {
    super(variant);
  }

  static List<ServingRules.Variant> all() {
    return NettyTest.all();
  }
}
