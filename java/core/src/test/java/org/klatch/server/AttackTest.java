package org.klatch.server;

import java.util.List;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Runs the attacks on the models of this jar that this Java supports. */
@ParameterizedClass
@MethodSource("all")
class AttackTest extends AttackRules {
  AttackTest(Model model, int loops) {
    super(model, loops);
  }

  static List<Arguments> all() {
    return EchoTest.all();
  }
}
