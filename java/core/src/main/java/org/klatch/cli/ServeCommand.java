package org.klatch.cli;

import java.io.IOException;
import java.util.List;
import java.util.Set;
import org.klatch.server.Model;
import org.klatch.server.Options;
import org.klatch.server.Server;

/** The command {@code serve}: its options and its ready line. */
final class ServeCommand {
  private static final int PROCESSORS = Runtime.getRuntime().availableProcessors();
  private static final String USAGE =
      """
      usage: %s serve [OPTIONS]

      Runs a server until SIGTERM or SIGINT: IRC (workload chat) or echo (workload rr).
      Options take one dash or two:

      """;

  int run(List<String> args) throws StartupException {
    Arguments arguments = new Arguments(args, Set.of("json", "yield", "coalesce", "help"));
    Models models = new Models();
    String name = arguments.text("model", "MODEL", "threads", models.describe());
    String workloadName =
        arguments.text(
            "workload", Workload.names("|"), "chat", "IRC, or an echo of all bytes (RFC 862)");
    String listen =
        arguments.text(
            "listen",
            "HOST:PORT",
            "127.0.0.1:6667",
            "address to listen on; port 0 takes a free one");
    boolean nodelay =
        arguments.bool("nodelay", true, "set TCP_NODELAY, which sends each write at once");
    boolean yield = arguments.flag("yield", "yield after each packet received and each batch sent");
    int loops =
        arguments.integer(
            "loops", 1, 1024, PROCESSORS, "event loops, or carrier threads of virtual threads");
    boolean coalesce =
        arguments.flag(
            "coalesce", "batch the deliveries of a loop's turn into one write (class open)");
    int sendq =
        arguments.integer(
            "sendq", 1024, 1 << 30, 1 << 20, "most bytes in the send queue of a connection");
    int timeout =
        arguments.integer(
            "registration-timeout",
            1,
            86_400,
            30,
            "seconds that a connection may take to register");
    int halfOpen =
        arguments.integer(
            "half-open-max", 1, 1 << 20, 4096, "most connections that have not registered");
    boolean json = arguments.flag("json", "print the ready line as JSON");
    if (arguments.flag("help", "print this help")) {
      System.out.print(USAGE.formatted(Invocation.command()) + arguments.help());
      return 0;
    }
    arguments.finish();
    Workload workload = Workload.find(workloadName);
    workload.rejectOptionsOfOthers(arguments);
    Model model = models.find(name);
    models.rejectUnsupportedKnobs(model, arguments, "yield", "loops", "coalesce");
    String host = hostOf(listen);
    Options options =
        new Options(
            host, portOf(listen), nodelay, yield, loops, coalesce, sendq, timeout, halfOpen);
    try {
      Server server = model.listen(options, workload.newService().get(), System.err::println);
      String kind = workload.hasClasses() ? model.classWith(options) : null;
      ready(json, host, server.port(), name, kind);
      server.run();
    } catch (IOException e) {
      throw new StartupException(
          "cannot listen on " + listen + ": " + e.getMessage() + "; choose another -listen");
    }
    return 0;
  }

  /**
   * Prints the ready line. The listener is bound, so the kernel already completes connections.
   *
   * @param kind the class of the server; null for a workload without classes
   */
  private static void ready(boolean json, String host, int port, String model, String kind) {
    long pid = ProcessHandle.current().pid();
    if (!json) {
      String what = kind == null ? model : model + " (" + kind + ")";
      System.out.printf("ready: %s on %s:%d, pid %d%n", what, host, port, pid);
      return;
    }
    String runtime = System.getProperty("java.vm.name") + " " + Runtime.version();
    Json line =
        new Json()
            .put("event", "ready")
            .put("host", host)
            .put("port", port)
            .put("pid", pid)
            .put("model", model);
    if (kind != null) {
      line.put("class", kind);
    }
    System.out.println(line.put("version", Version.get()).put("runtime", runtime));
  }

  private static String hostOf(String listen) throws StartupException {
    int colon = listen.lastIndexOf(':');
    if (colon < 1) {
      throw new StartupException.Usage("listen must be HOST:PORT, got " + listen);
    }
    return listen.substring(0, colon).replaceAll("^\\[|]$", "");
  }

  private static int portOf(String listen) throws StartupException {
    String port = listen.substring(listen.lastIndexOf(':') + 1);
    if (!port.matches("\\d{1,5}") || Integer.parseInt(port) > 65_535) {
      throw new StartupException.Usage("port must be 0..=65535, got " + port);
    }
    return Integer.parseInt(port);
  }
}
