package org.klatch.cli;

import java.util.List;
import java.util.Set;

/** The command {@code audit}: what the database of workload trade contains after a run. */
final class AuditCommand {
  private static final String USAGE =
      """
      usage: %s audit --database URL [OPTIONS]

      Looks for broken rules in a database that no server uses any more, and prints what it finds as one JSON object.
      Options take one dash or two:

      """;

  int run(List<String> args) throws StartupException {
    Arguments arguments = new Arguments(args, Set.of("load", "help"));
    Applications applications = new Applications(arguments);
    if (arguments.flag("help", "print this help")) {
      System.out.print(USAGE.formatted(Invocation.command()) + arguments.help());
      return 0;
    }
    arguments.finish();
    System.out.println(applications.audit("trade"));
    return 0;
  }
}
