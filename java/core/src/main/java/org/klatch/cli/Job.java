package org.klatch.cli;

import static java.util.Map.entry;

import java.util.HashMap;
import java.util.Map;
import org.klatch.crowd.Options;

/**
 * The job that a parent hands to a crowd on standard input, as the options that a person would give
 * instead: see docs/reference/protocol.md.
 */
final class Job {
  /** The option for each field of a server. */
  private static final Map<String, String> SERVER =
      Map.ofEntries(
          entry("server.host", "host"),
          entry("server.port", "port"),
          entry("server.websocket.path", "path"),
          entry("server.websocket.subprotocol", "subprotocol"),
          entry("server.tls.file", "ca"),
          entry("connect_timeout_s", "connect-timeout"),
          entry("seed", "seed"),
          entry("workload.rooms", "rooms"),
          entry("workload.users", "users"),
          entry("workload.count", "count"),
          entry("workload.duration_s", "duration"),
          entry("workload.size_bytes", "size"),
          entry("workload.pacing.kind", "pacing"),
          entry("workload.pacing.window", "window"),
          entry("workload.pacing.per_user_per_s", "rate"),
          entry("workload.stages", "stages"),
          entry("workload.arrivals", "arrivals"),
          entry("workload.pause_s", "pause"));

  /** The option for each field of readers. */
  private static final Map<String, String> READERS =
      Map.ofEntries(
          entry("folder", "folder"),
          entry("workload.readers", "readers"),
          entry("workload.block_bytes", "block"),
          entry("workload.order", "order"),
          entry("workload.files", "files"),
          entry("workload.file_mib", "file-mib"),
          entry("workload.duration_s", "duration"));

  /** The option for each field that both have. */
  private static final Map<String, String> BOTH =
      Map.of("workload.kind", "workload", "workload.start", "start", "timeout_s", "timeout");

  private final Map<String, String> fields;
  private final Map<String, String> options = new HashMap<>();

  private Job(Map<String, String> fields) {
    this.fields = fields;
  }

  /** Reads a line. Returns names and values of options; a switch has an empty value. */
  static Map<String, String> options(String line) throws StartupException {
    if (line == null) {
      throw new StartupException("standard input has no job");
    }
    Job job = new Job(JsonFields.of(line));
    boolean reads = "files".equals(job.fields.get("workload.kind"));
    if (reads) {
      job.takeReaders();
    } else {
      job.takeServer();
    }
    job.takeAll(BOTH);
    if (!job.fields.isEmpty()) {
      throw new StartupException(
          "the job has what this crowd cannot do: " + String.join(", ", job.fields.keySet()));
    }
    return job.options;
  }

  private void takeServer() throws StartupException {
    String protocol = fields.remove("server.protocol");
    if (!"irc".equals(protocol)) {
      throw new StartupException("this crowd speaks irc, and the job asks for " + protocol);
    }
    boolean webSocket = fields.containsKey("server.websocket.path");
    boolean tls = fields.remove("server.tls", "system") || fields.containsKey("server.tls.file");
    if (webSocket || tls) {
      options.put("transport", webSocket ? tls ? "wss" : "ws" : "tls");
    }
    if (fields.containsKey("workload.stages")) {
      // It is that of the stages.
      fields.remove("workload.duration_s");
    }
    takeAll(SERVER);
    if (!options.containsKey("duration") && !options.containsKey("stages")) {
      // A run without an end of its own, which the parent ends.
      options.putIfAbsent("count", String.valueOf(Options.COUNT_MAX));
    }
  }

  private void takeReaders() {
    if ("false".equals(fields.remove("workload.verified"))) {
      options.put("unverified", "");
    }
    // They connect to no server, and their order of blocks has a seed of its own.
    fields.remove("connect_timeout_s");
    fields.remove("seed");
    takeAll(READERS);
  }

  private void takeAll(Map<String, String> names) {
    names.forEach(
        (field, option) -> {
          String value = fields.remove(field);
          if (value != null) {
            options.put(option, value);
          }
        });
  }
}
