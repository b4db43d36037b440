package org.klatch.cli;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.PrintStream;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.klatch.chat.Text;
import org.klatch.crowd.Crowd;
import org.klatch.crowd.Failure;
import org.klatch.crowd.Options;
import org.klatch.crowd.Pacing;
import org.klatch.crowd.Result;

/** The command {@code crowd}: its options, output and exit status. */
final class CrowdCommand {
  private static final int ROOM_MAX = 65_535;
  private static final String USAGE =
      """
      usage: %s crowd [OPTIONS]

      Connects rooms x users simulated users to an IRC server. Each sends count messages, and checks that it
      gets every message of the others in its room once, in order and unaltered. Options take one dash or two:

      """;

  int run(List<String> args) throws StartupException, InterruptedException {
    Arguments arguments = new Arguments(args, Set.of("json", "steered", "yield", "help"));
    Options options = options(arguments);
    boolean json = arguments.flag("json", "print events and the result as JSON, one a line");
    boolean steered =
        arguments.flag("steered", "obey go, pause, resume, finish, quit on standard input");
    if (arguments.flag("help", "print this help")) {
      System.out.print(USAGE.formatted(Invocation.command()) + arguments.help());
      System.out.print("\nexit status: 0 valid, 1 invalid, 2 could not run\n");
      return 0;
    }
    arguments.finish();
    check(options, arguments);
    // Not System.out: the locale's character set may have no µ.
    var out = new PrintStream(new FileOutputStream(FileDescriptor.out), false, UTF_8);
    Printer printer = json ? new JsonPrinter(out) : new TextPrinter(out);
    return run(options, printer, steered);
  }

  private static int run(Options options, Printer printer, boolean steered)
      throws StartupException, InterruptedException {
    StdinControl control = new StdinControl(printer, steered);
    Crowd crowd = new Crowd(options, control);
    control.start(crowd);
    Result result = crowd.run();
    printer.result(result);
    control.end();
    if (result.failure() != null && result.failure().kind() == Failure.Kind.CONNECT) {
      throw new StartupException(result.failure().detail() + "; is a server running there?");
    }
    return result.valid() ? 0 : 1;
  }

  private static Options options(Arguments arguments) throws StartupException {
    return new Options(
        arguments.text("host", "HOST", "127.0.0.1", "the server's name or address"),
        (int) arguments.number("port", 1, 65_535, 6667, "the server's port"),
        (int) arguments.number("rooms", 1, ROOM_MAX, 10, "rooms"),
        (int) arguments.number("users", 2, 10_000, 20, "users in each room"),
        (int) arguments.number("count", 1, 100_000_000, 100, "messages of each user"),
        (int) arguments.number("start", 1, ROOM_MAX, 1, "number of the first room"),
        (int)
            arguments.number("size", Text.MIN_SIZE, Text.MAX_SIZE, 60, "bytes of a message's text"),
        pacing(arguments.text("pacing", "PACING", "turns", "turns, rounds, flood or rate")),
        (int)
            arguments.number(
                "window", 1, 100_000_000, 1, "rounds that a user may be ahead (pacing rounds)"),
        arguments.decimal("rate", 0, 1e6, "0", "R", "messages a second of each user (pacing rate)"),
        ns(
            arguments.decimal(
                "pause", 0, 86_400, "0", "S", "least seconds between two messages of a user")),
        ns(
            arguments.decimal(
                "timeout",
                0.1,
                86_400,
                "60",
                "S",
                "seconds without progress before the crowd fails")),
        (int)
            (1000
                * arguments.decimal(
                    "connect-timeout",
                    0.1,
                    86_400,
                    "10",
                    "S",
                    "time-out of one connect, in seconds")),
        arguments.flag("yield", "yield after each packet received and each batch sent"),
        arguments.unsigned("seed", 1, "seed of the schedules (pacing rate)"));
  }

  private static void check(Options options, Arguments arguments) throws StartupException {
    if (options.start() + options.rooms() - 1 > ROOM_MAX) {
      throw new StartupException.Usage(
          "start + rooms - 1 must be at most " + ROOM_MAX + ", the highest room number");
    }
    boolean rate = options.pacing() == Pacing.RATE;
    if (rate != options.rate() > 0) {
      throw new StartupException.Usage(
          rate ? "pacing rate needs -rate, above 0" : "-rate needs -pacing rate");
    }
    if (rate && options.pauseNs() > 0) {
      throw new StartupException.Usage(
          "-pause must be 0 under -pacing rate: its schedule is fixed in advance");
    }
    if (arguments.has("window") && options.pacing() != Pacing.ROUNDS) {
      throw new StartupException.Usage("-window needs -pacing rounds");
    }
  }

  private static Pacing pacing(String name) throws StartupException {
    for (Pacing pacing : Pacing.values()) {
      if (pacing.name().toLowerCase(Locale.ROOT).equals(name)) {
        return pacing;
      }
    }
    throw new StartupException.Usage("pacing must be turns, rounds, flood or rate, got " + name);
  }

  private static long ns(double seconds) {
    return (long) (seconds * 1e9);
  }
}
