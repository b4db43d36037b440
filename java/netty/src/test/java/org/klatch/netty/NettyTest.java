package org.klatch.netty;

import java.util.List;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;
import org.klatch.server.ServingRules;

/** Runs the rules of every model on Netty. */
@ParameterizedClass
@MethodSource("all")
class NettyTest extends ServingRules {
  NettyTest(Variant variant) {
    super(variant);
  }

  static List<Variant> all() {
    return List.of(
        new Variant(new NettyModel(), false, 1, false),
        new Variant(new NettyModel(), false, 3, false));
  }
}
