package org.klatch.cli;

import java.util.List;
import java.util.Set;

/** The command {@code audit}: what the database of an application contains after a run. */
final class AuditCommand {
  private static final String USAGE =
      """
      usage: %s audit [trade|orders] --database URL [OPTIONS]

      Looks for broken rules in a database that no server uses any more, and prints what it finds as one JSON object.
      Options take one dash or two:

      """;

  /** The workload without a name on the command line. */
  private static final String DEFAULT = "trade";

  int run(List<String> all) throws StartupException {
    boolean isNamed = !all.isEmpty() && !all.get(0).startsWith("-");
    Workload workload = Workload.find(isNamed ? all.get(0) : DEFAULT);
    if (!workload.isApplication()) {
      throw new StartupException.Usage("workload " + workload.name() + " has no database");
    }
    List<String> args = all.subList(isNamed ? 1 : 0, all.size());
    Arguments arguments = new Arguments(args, Set.of("load", "help"));
    Applications applications = new Applications(arguments);
    if (arguments.flag("help", "print this help")) {
      System.out.print(USAGE.formatted(Invocation.command()) + arguments.help());
      return 0;
    }
    arguments.finish();
    workload.rejectOptionsOfOthers(arguments);
    System.out.println(applications.audit(workload.name()));
    return 0;
  }
}
