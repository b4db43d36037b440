package org.klatch.cli;

import java.io.PrintStream;
import java.util.Locale;
import org.klatch.crowd.Failure;
import org.klatch.crowd.Fault;
import org.klatch.crowd.Histogram;
import org.klatch.crowd.Printable;
import org.klatch.crowd.Result;

/** Prints the result lines of VolanoMark, then latencies, strangers and faults. */
final class TextPrinter implements Printer {
  private static final int FAULTS_MAX = 5;

  private final PrintStream out;

  TextPrinter(PrintStream out) {
    this.out = out;
  }

  @Override
  public void joining(int joined, int users) {}

  @Override
  public void joined(double joinS) {
    print("All joined after %.3f s.", joinS);
  }

  @Override
  public void progress(long sent, long received, long expected, Histogram latencyNs) {}

  @Override
  public void paused(long sent, long received, long activeNs, Histogram latencyNs) {}

  @Override
  public void done() {}

  @Override
  public void result(Result result) {
    Failure failure = result.failure();
    if (failure != null && failure.kind() == Failure.Kind.CONNECT) {
      return; // there is no result; the reason is printed on standard error
    }
    if (result.parties() != null) {
      reads(result);
    } else {
      messages(result);
    }
    result
        .strangers()
        .forEach(
            stranger ->
                print(
                    "stranger: %s in room %d, %d messages",
                    stranger.nick(), stranger.room(), stranger.messages()));
    if (result.valid()) {
      print("valid");
    } else {
      invalid(result);
    }
  }

  private void reads(Result result) {
    double elapsedS = result.elapsedS();
    print("Blocks read        = %d", result.received());
    print("Elapsed time       = %.3f seconds", elapsedS);
    double perSecond = elapsedS > 0 ? result.received() / elapsedS : 0;
    print("Average throughput = %.0f reads per second", perSecond);
    quantiles("Read latency      ", result.latencyNs());
  }

  private void messages(Result result) {
    print("Messages sent      = %d", result.sent());
    print("Messages received  = %d", result.received());
    print("Total messages     = %d", result.sent() + result.received());
    print("Elapsed time       = %.3f seconds", result.elapsedS());
    print("Average throughput = %.0f messages per second", result.score());
    quantiles("Delivery latency  ", result.latencyNs());
    quantiles("Send lag          ", result.sendLagNs());
  }

  private void quantiles(String label, Histogram ns) {
    if (ns.total() > 0) {
      print(
          "%s = p50 %.1f, p90 %.1f, p99 %.1f, p99.9 %.1f, max %.1f µs",
          label,
          ns.quantile(0.5) / 1e3,
          ns.quantile(0.9) / 1e3,
          ns.quantile(0.99) / 1e3,
          ns.quantile(0.999) / 1e3,
          ns.quantile(1) / 1e3);
    }
  }

  private void invalid(Result result) {
    Failure failure = result.failure();
    if (failure != null) {
      String where =
          failure.user() == null
              ? ""
              : "room " + failure.room() + ", user " + failure.user() + ": ";
      print("invalid: %s: %s%s", lower(failure.kind()), where, failure.detail());
    }
    for (Fault.Kind kind : Fault.Kind.values()) {
      long count = result.faults().count(kind);
      if (count > 0) {
        print("invalid: %d %s", count, lower(kind));
      }
    }
    result.faults().first().stream().limit(FAULTS_MAX).forEach(this::fault);
  }

  private void fault(Fault fault) {
    StringBuilder line = new StringBuilder("invalid: " + lower(fault.kind()));
    if (fault.reader() != null) {
      line.append(": reader ").append(fault.reader()).append(", read ").append(fault.sequence());
    } else {
      message(fault, line);
    }
    if (fault.count() > 1) {
      line.append(" and ").append(fault.count() - 1).append(" after it");
    }
    if (fault.detail() != null) {
      line.append(" (").append(fault.detail()).append(")");
    }
    print("%s", line);
  }

  private static void message(Fault fault, StringBuilder line) {
    line.append(": room ").append(fault.room());
    if (fault.user() != null) {
      line.append(", user ").append(fault.user());
    }
    if (fault.sequence() != null) {
      line.append(", message ").append(fault.sequence()).append(" of user ");
    } else {
      line.append(", a message of user ");
    }
    line.append(fault.speaker());
  }

  private static String lower(Enum<?> kind) {
    return kind.name().toLowerCase(Locale.ROOT);
  }

  private void print(String format, Object... values) {
    // Nicks of strangers are what a server sent.
    out.println(Printable.of(String.format(Locale.ROOT, format, values)));
    out.flush();
  }
}
