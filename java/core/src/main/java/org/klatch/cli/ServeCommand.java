package org.klatch.cli;

import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.klatch.exchange.web.Responder;
import org.klatch.exchange.web.Site;
import org.klatch.exchange.web.SiteOptions;
import org.klatch.server.Model;
import org.klatch.server.OptionRefused;
import org.klatch.server.Options;
import org.klatch.server.Server;
import org.klatch.service.Service;
import org.klatch.web.Logging;
import org.klatch.web.ServerCertificate;

/** The command {@code serve}: its options, and the start of the server that they describe. */
final class ServeCommand {
  private static final int PROCESSORS = Runtime.getRuntime().availableProcessors();
  private static final String USAGE =
      """
      usage: %s serve [OPTIONS]

      Runs a server until SIGTERM or SIGINT: IRC (chat), echo (rr), a site (web) or an application (trade, orders).
      Options take one dash or two:

      """;

  int run(List<String> args) throws StartupException {
    Arguments arguments =
        new Arguments(args, Set.of("json", "yield", "coalesce", "load", "http2", "help"));
    Models models = new Models();
    String name = arguments.text("model", "MODEL", "threads", models.describe());
    Workload workload =
        Workload.find(
            arguments.text(
                "workload",
                Workload.names("|"),
                "chat",
                "IRC, echo (RFC 862), site, brokerage or order business"));
    String listen =
        arguments.text(
            "listen",
            "HOST:PORT",
            "127.0.0.1:6667",
            "address to listen on; port 0 takes a free one");
    Options options = options(arguments, workload, ListenAddress.parse(listen));
    SiteOptions siteOptions = siteOptions(arguments);
    Transports transport = Transports.read(arguments);
    Transports.Certificate certificate = transport.readCertificate(arguments);
    Applications applications = new Applications(arguments);
    WebServers webServers = new WebServers(arguments, workload.isApplication());
    boolean json = arguments.flag("json", "print the ready line as JSON");
    if (arguments.flag("help", "print this help")) {
      System.out.print(USAGE.formatted(Invocation.command()) + arguments.help());
      return 0;
    }
    arguments.finish();
    workload.rejectOptionsOfOthers(arguments);
    try {
      if (webServers.isChosen()) {
        if (transport.webSocket || (transport.tls && workload.isApplication())) {
          throw new StartupException.Usage(
              "--server has the transport plain, and tls for workloads rr and web");
        }
        if (workload.isSite()) {
          webServers.checkSite();
        }
        Responder responder =
            workload.isApplication() ? applications.open(workload.name()) : new Site(siteOptions);
        Optional<ServerCertificate> files =
            Optional.ofNullable(certificate)
                .map(one -> new ServerCertificate(one.chain(), one.key()));
        Server server = webServers.listen(options.host(), options.port(), files, responder);
        ReadyLine.print(json, options.host(), server.port(), webServers.name(), null, null);
        server.run();
        return 0;
      }
      if (workload.isApplication()) {
        throw new StartupException.Usage("workload " + workload.name() + " needs --server");
      }
      if (transport.webSocket && !workload.hasWebSocket()) {
        throw new StartupException.Usage("transports ws and wss belong to --workload chat");
      }
      Model model = models.find(name);
      models.rejectUnsupportedKnobs(model, arguments, "yield", "loops", "coalesce", "io");
      Service lines = workload.service(siteOptions);
      Service service = lines;
      if (!model.hasWebSocket()) {
        service = transport.wrap(lines, certificate);
      } else if (transport != Transports.WS) {
        throw new StartupException.Usage("model " + name + " needs --transport ws");
      } else {
        Logging.warningsOnly();
      }
      Server server = model.listen(options, service, System.err::println);
      String kind = workload.hasClasses() ? model.classWith(options) : null;
      ReadyLine.print(json, options.host(), server.port(), name, kind, server.io());
      server.run();
    } catch (OptionRefused e) {
      throw new StartupException(e.getMessage());
    } catch (IOException e) {
      throw new StartupException(
          "cannot listen on " + listen + ": " + e.getMessage() + "; choose another -listen");
    }
    return 0;
  }

  private static Options options(Arguments arguments, Workload workload, ListenAddress address)
      throws StartupException {
    return new Options(
        address.host(),
        address.port(),
        arguments.bool("nodelay", true, "set TCP_NODELAY, which sends each write at once"),
        arguments.flag("yield", "yield after each packet received and each batch sent"),
        arguments.integer(
            "loops", 1, 1024, PROCESSORS, "event loops, or carrier threads of virtual threads"),
        arguments.flag(
            "coalesce", "batch the deliveries of a loop's turn into one write (class open)"),
        arguments.integer(
            "sendq",
            1024,
            1 << 30,
            workload.sendqBytes(),
            "most bytes in the send queue of a connection; for web 16 MiB"),
        arguments.integer(
            "registration-timeout",
            1,
            86_400,
            30,
            "seconds to register, to complete a request, or to take what waits"),
        arguments.integer(
            "half-open-max", 1, 1 << 20, 4096, "most connections that have not registered"),
        io(arguments));
  }

  private static String io(Arguments arguments) throws StartupException {
    String io =
        arguments.text(
            "io", "epoll|nio", "", "how event loops wait; the default is epoll where it loads");
    if (!Set.of("", "epoll", "nio").contains(io)) {
      throw new StartupException.Usage("io must be epoll or nio, got " + io);
    }
    return io;
  }

  private static SiteOptions siteOptions(Arguments arguments) throws StartupException {
    int directories =
        arguments.integer(
            "directories",
            1,
            SiteOptions.DIRECTORIES_MAX,
            25,
            "directories of the site of web, of 5 MB each");
    long seed = arguments.unsigned("content-seed", 1, "seed of the contents of the site of web");
    return new SiteOptions(seed, directories);
  }
}
