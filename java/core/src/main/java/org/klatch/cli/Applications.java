package org.klatch.cli;

import java.io.IOException;
import java.util.List;
import java.util.ServiceLoader;
import java.util.Set;
import org.klatch.exchange.web.Responder;
import org.klatch.web.Application;
import org.klatch.web.ApplicationOptions;
import org.klatch.web.Logging;

/** The applications on the class path, which have a database. */
final class Applications {
  /** The options of all applications. */
  static final List<String> OPTIONS =
      List.of(
          "database",
          "database-user",
          "database-password",
          "seed",
          "connections",
          "statements",
          "load");

  private final ApplicationOptions options;

  /** Reads the options of applications. */
  Applications(Arguments arguments) throws StartupException {
    options =
        new ApplicationOptions(
            arguments.text("database", "URL", "", "JDBC URL of the database of trade or orders"),
            arguments.text("database-user", "USER", "", "its user, if the URL names none"),
            arguments.text("database-password", "PASSWORD", "", "password of that user"),
            arguments.integer("users", 1, 1_000_000, 5_000, "users of trade"),
            arguments.integer("quotes", 1, 100_000, 1_000, "quotes of trade"),
            arguments.integer("rate", 1, 10_000, 100, "injection rate of the population of orders"),
            arguments.unsigned("seed", 1, "seed of the population"),
            arguments.integer("connections", 1, 10_000, 16, "connections to the database"),
            isOn(arguments.text("statements", "on|off", "on", "keep prepared statements")),
            arguments.flag("load", "load the population if the database has no tables"));
  }

  private static boolean isOn(String text) throws StartupException {
    if (!Set.of("on", "off").contains(text)) {
      throw new StartupException.Usage("statements must be on or off, got " + text);
    }
    return text.equals("on");
  }

  /** Opens the application of a workload. */
  Responder open(String workload) throws StartupException {
    try {
      return find(workload).open(options);
    } catch (IOException e) {
      throw new StartupException(e.getMessage());
    }
  }

  /** Audits the database of a workload. Returns what is found as JSON. */
  String audit(String workload) throws StartupException {
    try {
      return find(workload).audit(options);
    } catch (IOException e) {
      throw new StartupException(e.getMessage());
    }
  }

  private Application find(String workload) throws StartupException {
    if (options.database().isEmpty()) {
      throw new StartupException.Usage(workload + " needs --database URL");
    }
    Logging.warningsOnly();
    return ServiceLoader.load(Application.class).stream()
        .map(ServiceLoader.Provider::get)
        .filter(application -> application.workload().equals(workload))
        .findFirst()
        .orElseThrow(
            () -> new StartupException.Usage("workload " + workload + " is in klatch-web.jar"));
  }
}
