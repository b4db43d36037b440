package org.klatch.netty;

import java.util.List;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.klatch.server.Model;
import org.klatch.server.ModelSiteRules;

/** Runs the rules of workload web on Netty. */
@ParameterizedClass
@MethodSource("all")
class NettySiteTest extends ModelSiteRules {
  NettySiteTest(Model model, int loops) {
    super(model, loops);
  }

  static List<Arguments> all() {
    return NettyEchoTest.all();
  }
}
