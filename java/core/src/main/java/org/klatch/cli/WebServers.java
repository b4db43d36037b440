package org.klatch.cli;

import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.stream.Collectors;
import org.klatch.exchange.web.Responder;
import org.klatch.server.Server;
import org.klatch.server.VirtualThreads;
import org.klatch.web.Logging;
import org.klatch.web.ServerCertificate;
import org.klatch.web.ThreadKind;
import org.klatch.web.WebServer;
import org.klatch.web.WebServerOptions;

/** The servers of other projects on the class path, and the one that a command line names. */
final class WebServers {
  private static final int POOL_MAX = 100_000;

  /** The default of Jetty and Tomcat. */
  private static final int BLOCKING_POOL = 200;

  private static final List<String> OPTIONS = List.of("threads", "pool", "http2");

  /** Options of the I/O models of this project. */
  private static final List<String> OPTIONS_OF_MODELS =
      List.of(
          "model",
          "nodelay",
          "yield",
          "loops",
          "coalesce",
          "io",
          "sendq",
          "registration-timeout",
          "half-open-max",
          "tls-provider");

  private final List<WebServer> all =
      ServiceLoader.load(WebServer.class).stream().map(ServiceLoader.Provider::get).toList();
  private final WebServer chosen; // null for a model of this project
  private final boolean blocks;
  private final ThreadKind threads;
  private final int pool;
  private final boolean http2;

  /**
   * Reads the options of such servers.
   *
   * @param blocks whether replies wait for a database
   */
  WebServers(Arguments arguments, boolean blocks) throws StartupException {
    this.blocks = blocks;
    String name =
        arguments.text(
            "server",
            "SERVER",
            "",
            "server of another project, for web, trade and orders: " + describe());
    chosen = arguments.has("server") ? find(name) : null;
    threads = Threads.read(arguments, "threads of -server; virtual: Java 21");
    pool =
        arguments.integer(
            "pool", 1, POOL_MAX, poolDefault(), "threads of -server, or carriers of virtual ones");
    http2 = arguments.flag("http2", "let clients of -server speak HTTP/2");
    reject(arguments, chosen == null ? OPTIONS : OPTIONS_OF_MODELS);
  }

  /** One for each processor, unless they may block. */
  private int poolDefault() {
    boolean mayBlock =
        chosen != null && threads == ThreadKind.PLATFORM && (blocks || !chosen.hasEventLoops());
    return mayBlock ? BLOCKING_POOL : Runtime.getRuntime().availableProcessors();
  }

  /** Whether the command line names such a server. */
  boolean isChosen() {
    return chosen != null;
  }

  String name() {
    return chosen.name();
  }

  /** Fails if the named server cannot serve workload web. */
  void checkSite() throws StartupException {
    if (!chosen.speaksHttp10()) {
      throw new StartupException.Usage(name() + " has no HTTP/1.0, which workload web needs");
    }
  }

  /**
   * Starts the named server.
   *
   * @param certificate of a server with TLS
   */
  Server listen(String host, int port, Optional<ServerCertificate> certificate, Responder responder)
      throws IOException, StartupException {
    Threads.check(threads);
    if (!chosen.threadKinds().contains(threads)) {
      String kind = threads == ThreadKind.VIRTUAL ? "virtual" : "platform";
      throw new StartupException.Usage(name() + " has no " + kind + " threads; see --threads");
    }
    if (threads == ThreadKind.VIRTUAL) {
      VirtualThreads.setCarriers(pool);
    }
    if (http2 && !chosen.speaksHttp2()) {
      throw new StartupException.Usage(name() + " does not speak HTTP/2");
    }
    Logging.warningsOnly();
    return chosen.listen(
        new WebServerOptions(host, port, threads, pool, certificate, http2), responder);
  }

  private WebServer find(String name) throws StartupException {
    if (all.isEmpty()) {
      throw new StartupException.Usage("servers of other projects are in klatch-web.jar");
    }
    return all.stream()
        .filter(server -> server.name().equals(name))
        .findFirst()
        .orElseThrow(
            () ->
                new StartupException.Usage(
                    "unknown server " + name + "; choose one of: " + describe()));
  }

  private String describe() {
    return all.isEmpty()
        ? "see klatch-web.jar"
        : all.stream().map(WebServer::name).collect(Collectors.joining(", "));
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
