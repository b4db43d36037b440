package org.klatch.cli;

import java.util.Arrays;
import java.util.List;
import org.klatch.crowd.Printable;

/** The command line of {@code klatch.jar}, {@code klatch-netty.jar} and {@code klatch-web.jar}. */
public final class Main {
  private static final int COULD_NOT_RUN = 2;

  private static final String HELP =
      """
      Klatch: a benchmark for servers. The servers and the crowd in Java.

      usage: %s COMMAND [OPTIONS]

        serve      run an IRC server for crowds and other IRC clients, an echo server, a web site or an application
        crowd      connect simulated users to a server, and check every delivery
        audit      look for broken rules in the database of an application

      COMMAND --help prints the options of a command; --version prints the version.
      """;

  private Main() {}

  /** Runs the command named by the first argument, and exits with its status. */
  public static void main(String[] args) throws InterruptedException {
    System.exit(run(List.of(args)));
  }

  private static int run(List<String> args) throws InterruptedException {
    String command = args.isEmpty() ? "" : args.get(0);
    List<String> rest = args.isEmpty() ? args : args.subList(1, args.size());
    try {
      return switch (command) {
        case "serve" -> new ServeCommand().run(rest);
        case "crowd" -> new CrowdCommand().run(rest);
        case "audit" -> new AuditCommand().run(rest);
        case "--help", "-help", "-h", "help" -> print(HELP.formatted(Invocation.command()));
        case "--version", "-version", "version" -> print("klatch " + Version.get() + "\n");
        case "" -> throw new StartupException.Usage("no command given: serve, crowd or audit");
        default ->
            throw new StartupException.Usage(
                "unknown command " + command + ": serve, crowd or audit");
      };
    } catch (StartupException.Usage e) {
      boolean isCommand = Arrays.asList("serve", "crowd", "audit").contains(command);
      String help = isCommand ? command + " --help" : "--help";
      return fail(
          e.getMessage() + " (`" + Invocation.command() + " " + help + "` prints the options)");
    } catch (StartupException e) {
      return fail(e.getMessage());
    }
  }

  private static int fail(String message) {
    System.err.println("klatch: " + Printable.of(message));
    return COULD_NOT_RUN;
  }

  private static int print(String text) {
    System.out.print(text);
    return 0;
  }
}
