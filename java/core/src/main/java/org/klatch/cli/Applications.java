package org.klatch.cli;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.Set;
import org.klatch.exchange.web.Responder;
import org.klatch.web.Application;
import org.klatch.web.ApplicationOptions;
import org.klatch.web.HotLock;
import org.klatch.web.Logging;
import org.klatch.web.SessionTable;

/** The applications on the class path, which have a database. */
final class Applications {
  /** The options of all applications. */
  static final List<String> OPTIONS =
      List.of(
          "database",
          "database-user",
          "seed",
          "connections",
          "statements",
          "session-lock",
          "session-kib",
          "load");

  /** The variable of PostgreSQL's clients. Unlike a command line, only its user can read it. */
  private static final String PASSWORD = "PGPASSWORD";

  /** How threads wait for the lock on the sessions, by name; nothing stands for no such lock. */
  private static final Map<String, Optional<HotLock.Waiting>> LOCKS =
      Map.of(
          "off", Optional.empty(),
          "park", Optional.of(HotLock.Waiting.PARK),
          "yield", Optional.of(HotLock.Waiting.YIELD),
          "two-tiers", Optional.of(HotLock.Waiting.TWO_TIERS),
          "three-tiers", Optional.of(HotLock.Waiting.THREE_TIERS));

  private final ApplicationOptions options;
  private final Optional<HotLock.Waiting> sessionLock;
  private final int sessionBytes;

  /** Reads the options of applications. */
  Applications(Arguments arguments) throws StartupException {
    options =
        new ApplicationOptions(
            arguments.text("database", "URL", "", "JDBC URL of the database of trade or orders"),
            arguments.text(
                "database-user",
                "USER",
                "",
                "its user, if the URL names none; PostgreSQL: password in PGPASSWORD"),
            System.getenv().getOrDefault(PASSWORD, ""),
            arguments.integer("users", 1, 1_000_000, 5_000, "users of trade"),
            arguments.integer("quotes", 1, 100_000, 1_000, "quotes of trade"),
            arguments.integer("rate", 1, 10_000, 100, "injection rate of the population of orders"),
            arguments.unsigned("seed", 1, "seed of the population"),
            arguments.integer("connections", 1, 10_000, 16, "connections to the database"),
            isOn(arguments.text("statements", "on|off", "on", "keep prepared statements")),
            arguments.flag("load", "load the population if the database has no tables"));
    String lock =
        arguments.text(
            "session-lock",
            "HOW",
            "off",
            "one lock for all sessions: off, park, yield, two-tiers, three-tiers");
    sessionLock = LOCKS.get(lock);
    if (sessionLock == null) {
      throw new StartupException.Usage(
          "session-lock must be off, park, yield, two-tiers or three-tiers, got " + lock);
    }
    sessionBytes =
        arguments.integer("session-kib", 1, 1_024, 16, "KiB of state of a session") * 1_024;
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
      Responder application = find(workload).open(options);
      return sessionLock
          .<Responder>map(lock -> new SessionTable(application, lock, sessionBytes))
          .orElse(application);
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
