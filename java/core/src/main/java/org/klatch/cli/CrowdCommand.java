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

/** {@code crowd}: the options of a crowd, what it prints, and its exit status. */
final class CrowdCommand {
  private static final int ROOM_MAX = 65_535;
  private static final String USAGE =
      """
      usage: %s crowd [OPTIONS]

      Sends rooms x users simulated users at an IRC server; each says count messages, and checks that it
      gets every message of all others in its room once, in order and unaltered. Options take one dash or two:

      """;

  int run(List<String> args) throws Trouble, InterruptedException {
    Arguments arguments = new Arguments(args, Set.of("json", "steered", "yield", "help"));
    Options options = options(arguments);
    boolean json = arguments.flag("json", "print events and the result as JSON, one a line");
    boolean steered =
        arguments.flag("steered", "wait for `go` and `quit` on standard input (see protocol.md)");
    if (arguments.flag("help", "print this")) {
      System.out.print(USAGE.formatted(Invocation.command()) + arguments.help());
      System.out.print("\nexit status: 0 valid, 1 invalid, 2 could not run\n");
      return 0;
    }
    arguments.finish();
    check(options, arguments);
    // Not System.out: its character set is the locale's, and may have no µ.
    var out = new PrintStream(new FileOutputStream(FileDescriptor.out), false, UTF_8);
    Printer printer = json ? new JsonPrinter(out) : new TextPrinter(out);
    return run(options, printer, steered);
  }

  private static int run(Options options, Printer printer, boolean steered)
      throws Trouble, InterruptedException {
    Steering steering = new Steering(printer, steered);
    Crowd crowd = new Crowd(options, steering);
    steering.steer(crowd);
    Result result = crowd.run();
    printer.result(result);
    steering.end();
    if (result.failure() != null && result.failure().kind() == Failure.Kind.CONNECT) {
      throw new Trouble(result.failure().detail() + "; is a server running there?");
    }
    return result.valid() ? 0 : 1;
  }

  private static Options options(Arguments arguments) throws Trouble {
    return new Options(
        arguments.text("host", "HOST", "127.0.0.1", "the server's name or address"),
        (int) arguments.number("port", 1, 65_535, 6667, "the server's port"),
        (int) arguments.number("rooms", 1, ROOM_MAX, 10, "rooms"),
        (int) arguments.number("users", 2, 10_000, 20, "users in each room"),
        (int) arguments.number("count", 1, 100_000_000, 100, "messages of each user"),
        (int) arguments.number("start", 1, ROOM_MAX, 1, "number of the first room"),
        (int) arguments.number("size", Text.MIN_SIZE, Text.MAX_SIZE, 60, "bytes of a text"),
        pacing(arguments.text("pacing", "PACING", "turns", "turns, rounds, flood or rate")),
        (int) arguments.number("window", 1, 100_000_000, 1, "rounds: how far a user may be ahead"),
        arguments.decimal("rate", 0, 1e6, "0", "R", "rate: messages a second of each user"),
        ns(arguments.decimal("pause", 0, 86_400, "0", "S", "seconds between a user's messages")),
        ns(arguments.decimal("timeout", 0.1, 86_400, "60", "S", "seconds without any progress")),
        (int)
            (1000
                * arguments.decimal(
                    "connect-timeout", 0.1, 86_400, "10", "S", "seconds for one connection")),
        arguments.flag("yield", "yield after each packet received and each batch sent"),
        arguments.unsigned("seed", 1, "rate: seed of the schedules"));
  }

  private static void check(Options options, Arguments arguments) throws Trouble {
    if (options.start() + options.rooms() - 1 > ROOM_MAX) {
      throw new Trouble.Usage(
          "start + rooms - 1 must be at most " + ROOM_MAX + ", the last room there can be");
    }
    boolean rate = options.pacing() == Pacing.RATE;
    if (rate != options.rate() > 0) {
      throw new Trouble.Usage(
          rate ? "pacing rate needs -rate, above 0" : "-rate needs -pacing rate");
    }
    if (rate && options.pauseNs() > 0) {
      throw new Trouble.Usage(
          "-pause must be 0 under -pacing rate, whose schedule is fixed in advance");
    }
    if (arguments.has("window") && options.pacing() != Pacing.ROUNDS) {
      throw new Trouble.Usage("-window needs -pacing rounds");
    }
  }

  private static Pacing pacing(String name) throws Trouble {
    for (Pacing pacing : Pacing.values()) {
      if (pacing.name().toLowerCase(Locale.ROOT).equals(name)) {
        return pacing;
      }
    }
    throw new Trouble.Usage("pacing must be turns, rounds, flood or rate, got " + name);
  }

  private static long ns(double seconds) {
    return (long) (seconds * 1e9);
  }
}
