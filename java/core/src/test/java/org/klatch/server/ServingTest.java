package org.klatch.server;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

/** Runs the rules on the models of this jar that this Java supports, with each of their knobs. */
@ParameterizedClass
@MethodSource("all")
class ServingTest extends ServingRules {
  ServingTest(Variant variant) {
    super(variant);
  }

  static List<Variant> all() {
    List<Variant> all = new ArrayList<>();
    all.add(new Variant(new ThreadsModel(), false, 1, false));
    all.add(new Variant(new ThreadsModel(), true, 1, false));
    all.add(new Variant(new SelectorModel(), false, 1, false));
    all.add(new Variant(new SelectorModel(), false, 3, false));
    all.add(new Variant(new SelectorModel(), false, 1, true));
    all.add(new Variant(new SelectorModel(), false, 3, true));
    Model virtual = new VirtualModel();
    if (Runtime.version().feature() >= virtual.javaMin()) {
      all.add(new Variant(virtual, false, 1, false));
      all.add(new Variant(virtual, true, 1, false));
    }
    return all;
  }
}
