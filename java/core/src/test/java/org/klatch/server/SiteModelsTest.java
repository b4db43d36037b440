package org.klatch.server;

import java.util.List;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Runs the rules of workload web on the models of this jar that this Java supports. */
@ParameterizedClass
@MethodSource("all")
class SiteModelsTest extends ModelSiteRules {
  SiteModelsTest(Model model, int loops) {
    super(model, loops);
  }

  static List<Arguments> all() {
    return EchoTest.all();
  }
}
