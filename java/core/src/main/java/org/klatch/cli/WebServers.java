package org.klatch.cli;

import java.io.IOException;
import java.util.List;
import java.util.Locale;
import java.util.ServiceLoader;
import java.util.stream.Collectors;
import org.klatch.exchange.web.Site;
import org.klatch.server.Server;
import org.klatch.server.VirtualThreads;
import org.klatch.web.ThreadKind;
import org.klatch.web.WebServer;
import org.klatch.web.WebServerOptions;

/** The servers of other projects on the class path, and the one that a command line names. */
final class WebServers {
  private static final int POOL_MAX = 100_000;
  private static final List<String> OPTIONS = List.of("threads", "pool");

  /** Options of the I/O models of this project. */
  private static final List<String> OPTIONS_OF_MODELS =
      List.of(
          "model",
          "nodelay",
          "yield",
          "loops",
          "coalesce",
          "sendq",
          "registration-timeout",
          "half-open-max");

  private final List<WebServer> all =
      ServiceLoader.load(WebServer.class).stream().map(ServiceLoader.Provider::get).toList();
  private final WebServer chosen; // null for a model of this project
  private final ThreadKind threads;
  private final int pool;

  /** Reads the options of such servers. */
  WebServers(Arguments arguments) throws StartupException {
    String name =
        arguments.text("server", "SERVER", "", "server of another project, for web: " + describe());
    chosen = arguments.has("server") ? find(name) : null;
    threads =
        threads(arguments.text("threads", "KIND", "", "platform or virtual (Java 21), of -server"));
    int processors = Runtime.getRuntime().availableProcessors();
    boolean hasPool = chosen != null && threads == ThreadKind.PLATFORM;
    pool =
        arguments.integer(
            "pool",
            1,
            POOL_MAX,
            hasPool ? chosen.poolDefault() : processors,
            "threads of -server, or carriers of its virtual threads");
    reject(arguments, chosen == null ? OPTIONS : OPTIONS_OF_MODELS);
  }

  /** Whether the command line names such a server. */
  boolean isChosen() {
    return chosen != null;
  }

  String name() {
    return chosen.name();
  }

  /** Starts the named server. */
  Server listen(String host, int port, Site site) throws IOException, StartupException {
    int java = Runtime.version().feature();
    if (threads == ThreadKind.VIRTUAL && java < VirtualThreads.JAVA_MIN) {
      throw new StartupException(
          "virtual threads need Java "
              + VirtualThreads.JAVA_MIN
              + " or newer; this is Java "
              + java);
    }
    if (threads == ThreadKind.VIRTUAL) {
      VirtualThreads.setCarriers(pool);
    }
    return chosen.listen(new WebServerOptions(host, port, threads, pool), site);
  }

  private WebServer find(String name) throws StartupException {
    return all.stream()
        .filter(server -> server.name().equals(name))
        .findFirst()
        .orElseThrow(
            () ->
                new StartupException.Usage(
                    "unknown server " + name + "; choose one of: " + describe()));
  }

  private String describe() {
    if (all.isEmpty()) {
      return "see klatch-web.jar";
    }
    return all.stream().map(WebServer::name).collect(Collectors.joining(", "));
  }

  private ThreadKind threads(String name) throws StartupException {
    if (chosen == null || name.isEmpty()) {
      return chosen == null ? ThreadKind.PLATFORM : chosen.threads().get(0);
    }
    return chosen.threads().stream()
        .filter(kind -> nameOf(kind).equals(name))
        .findFirst()
        .orElseThrow(
            () ->
                new StartupException.Usage(
                    "threads of "
                        + chosen.name()
                        + " must be "
                        + chosen.threads().stream()
                            .map(WebServers::nameOf)
                            .collect(Collectors.joining(" or "))
                        + ", got "
                        + name));
  }

  private static String nameOf(ThreadKind kind) {
    return kind.name().toLowerCase(Locale.ROOT);
  }

  private void reject(Arguments given, List<String> options) throws StartupException {
    for (String option : options) {
      if (given.has(option)) {
        throw new StartupException.Usage(
            "--" + option + (chosen == null ? " belongs to" : " does not go with") + " --server");
      }
    }
  }
}
