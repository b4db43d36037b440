package org.klatch.netty;

import java.util.List;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.klatch.server.EchoRules;
import org.klatch.server.Model;

/** Runs the rules of the echo service on Netty. */
@ParameterizedClass
@MethodSource("all")
class NettyEchoTest extends EchoRules {
  NettyEchoTest(Model model, int loops) {
    super(model, loops);
  }

  static List<Arguments> all() {
    return List.of(Arguments.of(new NettyModel(), 1), Arguments.of(new NettyModel(), 3));
  }
}
