package org.klatch.cli;

import java.util.List;
import java.util.ServiceLoader;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.klatch.server.Model;

/** The models of a server that are in this program. */
final class Models {
  private final List<Model> all =
      ServiceLoader.load(Model.class).stream().map(ServiceLoader.Provider::get).toList();

  /** The model of that name. */
  Model find(String name) throws Trouble {
    Model model = all.stream().filter(each -> each.name().equals(name)).findFirst().orElse(null);
    if (model == null) {
      String elsewhere = name.equals("netty") ? "; netty is in klatch-netty.jar" : "";
      throw new Trouble.Usage(
          "unknown model " + name + "; there is: " + names(any -> true, ", ") + elsewhere);
    }
    int java = Runtime.version().feature();
    if (java < model.javaMin()) {
      throw new Trouble(
          "model "
              + name
              + " needs Java "
              + model.javaMin()
              + " or newer, and this is Java "
              + java);
    }
    return model;
  }

  /** Fails if one of {@code knobs} was given that the model has not. */
  void refuseForeign(Model model, Arguments given, String... knobs) throws Trouble {
    for (String knob : knobs) {
      if (given.has(knob) && !model.knobs().contains(knob)) {
        String owners = names(each -> each.knobs().contains(knob), " and ");
        String belongs = " belongs to the model" + (owners.contains(" ") ? "s " : " ");
        throw new Trouble.Usage("--" + knob + belongs + owners);
      }
    }
  }

  /** Their names, and the Java that they need. */
  String describe() {
    return all.stream()
        .map(
            model ->
                model.javaMin() > 17
                    ? model.name() + " (Java " + model.javaMin() + ")"
                    : model.name())
        .collect(Collectors.joining(", "));
  }

  private String names(Predicate<Model> which, String between) {
    return all.stream().filter(which).map(Model::name).collect(Collectors.joining(between));
  }
}
