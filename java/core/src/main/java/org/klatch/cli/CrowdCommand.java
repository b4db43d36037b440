package org.klatch.cli;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.util.List;
import java.util.Set;
import org.klatch.crowd.Crowd;
import org.klatch.crowd.Failure;
import org.klatch.crowd.Result;

/** The command {@code crowd}: its output and exit status. */
final class CrowdCommand {
  private static final String USAGE =
      """
      usage: %s crowd [OPTIONS]

      Connects rooms x users simulated users to an IRC server. Each sends count messages, and checks that it
      gets every message of the others in its room once, in order and unaltered. With -workload files it reads
      blocks of cached files and checks them; add -help for its options. Options take one dash or two:

      """;

  int run(List<String> args) throws StartupException, InterruptedException {
    Arguments arguments = new Arguments(args, Set.of("json", "job", "yield", "unverified", "help"));
    boolean steered =
        arguments.flag("job", "take options and commands as JSON and lines on standard input");
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, UTF_8));
    if (steered) {
      arguments.putAll(Job.options(readLine(in)));
    }
    CrowdWorkload workload =
        workload(arguments.text("workload", "chat|files", "chat", "users who chat, or readers"));
    workload.read(arguments);
    boolean json = arguments.flag("json", "print events and the result as JSON, one a line");
    if (arguments.flag("help", "print this help")) {
      System.out.print(USAGE.formatted(Invocation.command()) + arguments.help());
      System.out.print("\nexit status: 0 valid, 1 invalid, 2 could not run\n");
      return 0;
    }
    arguments.finish();
    workload.check(arguments);
    // Not System.out: the locale's character set may have no µ.
    var out = new PrintStream(new FileOutputStream(FileDescriptor.out), false, UTF_8);
    Printer printer = json || steered ? new JsonPrinter(out) : new TextPrinter(out);
    return run(workload, new StdinControl(printer, steered ? in : null), printer);
  }

  private static String readLine(BufferedReader in) throws StartupException {
    try {
      return in.readLine();
    } catch (IOException e) {
      throw new StartupException("cannot read the job from standard input: " + e.getMessage());
    }
  }

  private static int run(CrowdWorkload workload, StdinControl control, Printer printer)
      throws StartupException, InterruptedException {
    Crowd crowd = workload.newCrowd(control);
    control.start(crowd);
    Result result = crowd.run();
    printer.result(result);
    control.end();
    if (result.failure() != null && result.failure().kind() == Failure.Kind.CONNECT) {
      throw new StartupException(result.failure().detail() + "; is a server running there?");
    }
    return result.valid() ? 0 : 1;
  }

  private static CrowdWorkload workload(String name) throws StartupException {
    return switch (name) {
      case "chat" -> new ChatWorkload();
      case "files" -> new FilesWorkload();
      default -> throw new StartupException.Usage("workload must be chat or files, got " + name);
    };
  }
}
