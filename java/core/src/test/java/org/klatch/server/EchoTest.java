package org.klatch.server;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Runs the rules of the echo service on the models of this jar that this Java supports. */
@ParameterizedClass
@MethodSource("all")
class EchoTest extends EchoRules {
  EchoTest(Model model, int loops) {
    super(model, loops);
  }

  static List<Arguments> all() {
    List<Arguments> all = new ArrayList<>();
    all.add(Arguments.of(new ThreadsModel(), 1));
    all.add(Arguments.of(new SelectorModel(), 1));
    all.add(Arguments.of(new SelectorModel(), 3));
    Model virtual = new VirtualModel();
    if (Runtime.version().feature() >= virtual.javaMin()) {
      all.add(Arguments.of(virtual, 1));
    }
    return all;
  }
}
