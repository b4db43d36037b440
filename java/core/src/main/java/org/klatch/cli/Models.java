package org.klatch.cli;

import java.util.List;
import java.util.ServiceLoader;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.klatch.server.Model;

/** The server models on the class path. */
final class Models {
  private final List<Model> all =
      ServiceLoader.load(Model.class).stream().map(ServiceLoader.Provider::get).toList();

  /** Returns the model with this name. */
  Model find(String name) throws StartupException {
    Model model =
        all.stream().filter(candidate -> candidate.name().equals(name)).findFirst().orElse(null);
    if (model == null) {
      String elsewhere = name.equals("netty") ? "; netty is in klatch-netty.jar" : "";
      throw new StartupException.Usage(
          "unknown model " + name + "; choose one of: " + names(any -> true, ", ") + elsewhere);
    }
    int java = Runtime.version().feature();
    if (java < model.javaMin()) {
      throw new StartupException(
          "model "
              + name
              + " needs Java "
              + model.javaMin()
              + " or newer, and this is Java "
              + java);
    }
    return model;
  }

  /** Fails if the command line sets one of {@code knobs} that the model does not support. */
  void rejectUnsupportedKnobs(Model model, Arguments given, String... knobs)
      throws StartupException {
    for (String knob : knobs) {
      if (given.has(knob) && !model.knobs().contains(knob)) {
        String owners = names(candidate -> candidate.knobs().contains(knob), " and ");
        if (owners.isEmpty()) {
          throw new StartupException.Usage("no model of this jar has --" + knob + "; netty has");
        }
        String belongs = " belongs to the model" + (owners.contains(" ") ? "s " : " ");
        throw new StartupException.Usage("--" + knob + belongs + owners);
      }
    }
  }

  /** Lists the names, with the Java version where above 17. */
  String describe() {
    return all.stream()
        .map(
            model ->
                model.javaMin() > 17
                    ? model.name() + " (Java " + model.javaMin() + ")"
                    : model.name())
        .collect(Collectors.joining(", "));
  }

  private String names(Predicate<Model> filter, String separator) {
    return all.stream().filter(filter).map(Model::name).collect(Collectors.joining(separator));
  }
}
