package org.klatch.cli;

import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.klatch.crowd.Failure;
import org.klatch.crowd.Fault;
import org.klatch.crowd.Faults;
import org.klatch.crowd.Gap;
import org.klatch.crowd.Histogram;
import org.klatch.crowd.PartyCounts;
import org.klatch.crowd.Result;
import org.klatch.crowd.StageCounts;
import org.klatch.crowd.Stranger;
import org.klatch.crowd.Timeline;
import org.klatch.crowd.TlsSession;

/** Prints events and result as JSON, one object a line: see docs/reference/protocol.md. */
final class JsonPrinter implements Printer {
  private final PrintStream out;

  JsonPrinter(PrintStream out) {
    this.out = out;
  }

  @Override
  public void joining(int joined, int users) {
    print(new Json().put("event", "joining").put("joined", joined).put("users", users));
  }

  @Override
  public void joined(double joinS) {
    print(new Json().put("event", "joined").put("join_s", joinS));
  }

  @Override
  public void progress(long sent, long received, long expected, Histogram latencyNs) {
    print(
        new Json()
            .put("event", "progress")
            .put("sent", sent)
            .put("received", received)
            .put("expected", expected)
            .putAll("latency_ns", buckets(latencyNs), pair -> pair));
  }

  @Override
  public void paused(long sent, long received, long activeNs, Histogram latencyNs) {
    print(
        new Json()
            .put("event", "paused")
            .put("sent", sent)
            .put("received", received)
            .put("active_ns", activeNs)
            .putAll("latency_ns", buckets(latencyNs), pair -> pair));
  }

  @Override
  public void done() {
    print(new Json().put("event", "done"));
  }

  @Override
  public void result(Result result) {
    Faults faults = result.faults();
    Json json =
        new Json()
            .put("event", "result")
            .put("sent", result.sent())
            .put("received", result.received())
            .put("elapsed_s", result.elapsedS())
            .put("join_s", result.joinS())
            .putAll("latency_ns", buckets(result.latencyNs()), pair -> pair)
            .putAll("send_lag_ns", buckets(result.sendLagNs()), pair -> pair)
            .put("over_time", timeline(result.overTime()));
    if (result.stages() != null) {
      json.putAll("stages", stages(result.stages()), one -> one);
    }
    for (Fault.Kind kind : Fault.Kind.values()) {
      json.put(lower(kind), faults.count(kind));
    }
    json.putAll("faults", faults.first(), JsonPrinter::fault);
    json.putAll("strangers", result.strangers(), JsonPrinter::stranger);
    json.put("results", results(result.parties()));
    if (result.tls() != null) {
      TlsSession tls = result.tls();
      json.put("tls", new Json().put("version", tls.version()).put("cipher", tls.cipher()));
    }
    if (!result.gaps().isEmpty()) {
      json.putAll("gaps", result.gaps(), JsonPrinter::gap);
    }
    json.put("finished", result.finished());
    print(json.put("failure", failure(result.failure())));
  }

  private static Json results(PartyCounts parties) {
    if (parties == null) {
      return new Json().put("workload", "chat");
    }
    Json counts =
        new Json()
            .put("parties", parties.parties())
            .put("least", parties.least())
            .put("most", parties.most());
    return new Json().put("workload", "files").put("parties", counts);
  }

  private static List<Json> stages(StageCounts counts) {
    List<Json> stages = new ArrayList<>();
    for (int stage = 0; stage < counts.count(); stage++) {
      stages.add(
          new Json()
              .put("intended", counts.intended(stage))
              .put("in_time", counts.inTime(stage))
              .putAll("latency_ns", buckets(counts.latencyNs(stage)), pair -> pair));
    }
    return stages;
  }

  private static Json gap(Gap gap) {
    return new Json().put("from_s", gap.fromS()).put("to_s", gap.toS());
  }

  private static Json fault(Fault fault) {
    Json json = new Json().put("kind", lower(fault.kind()));
    if (fault.reader() != null) {
      json.put("reader", fault.reader());
    }
    return json.put("room", fault.room())
        .put("user", fault.user())
        .put("speaker", fault.speaker())
        .put("sequence", fault.sequence())
        .put("count", fault.count())
        .put("detail", fault.detail());
  }

  private static Json stranger(Stranger stranger) {
    return new Json()
        .put("room", stranger.room())
        .put("nick", stranger.nick())
        .put("messages", stranger.messages());
  }

  private static Json failure(Failure failure) {
    return failure == null
        ? null
        : new Json()
            .put("kind", lower(failure.kind()))
            .put("room", failure.room())
            .put("user", failure.user())
            .put("detail", failure.detail());
  }

  private static List<List<Long>> buckets(Histogram histogram) {
    List<List<Long>> buckets = new ArrayList<>();
    histogram.forEach((value, count) -> buckets.add(List.of(value, count)));
    return buckets;
  }

  private static Json timeline(Timeline timeline) {
    return new Json()
        .put("interval_ms", timeline.intervalMs())
        .putAll("latency_ns", timeline.intervals(), JsonPrinter::buckets);
  }

  private static String lower(Enum<?> kind) {
    return kind.name().toLowerCase(Locale.ROOT);
  }

  private void print(Json json) {
    out.println(json);
    out.flush();
  }
}
