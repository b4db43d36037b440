package org.klatch.cli;

import java.time.LocalDate;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.klatch.chat.Identity;
import org.klatch.chat.ServerState;
import org.klatch.exchange.EchoService;
import org.klatch.exchange.web.Site;
import org.klatch.exchange.web.SiteOptions;
import org.klatch.exchange.web.SiteService;
import org.klatch.service.Service;

/**
 * A workload that {@code serve} can serve.
 *
 * @param name its name on the command line
 * @param hasClasses whether its servers differ in the class of their writes
 * @param sendqBytes default capacity of a connection's send queue
 * @param ownOptions the options that no other workload has
 * @param newService creates the service of one server; null for an application
 */
record Workload(
    String name,
    boolean hasClasses,
    int sendqBytes,
    List<String> ownOptions,
    Function<SiteOptions, Service> newService) {
  /** Options of servers of other projects. */
  private static final List<String> WEB_SERVERS = List.of("server", "threads", "pool", "http2");

  private static final List<String> SITE = List.of("directories", "content-seed");

  private static final List<Workload> ALL =
      List.of(
          new Workload("chat", true, 1 << 20, List.of("yield", "coalesce"), site -> newChat()),
          new Workload("rr", false, 1 << 20, WEB_SERVERS, site -> new EchoService()),
          new Workload(
              "web",
              false,
              16 << 20,
              with(WEB_SERVERS, SITE.toArray(new String[0])),
              site -> new SiteService(new Site(site))),
          new Workload(
              "trade", false, 1 << 20, with(WEB_SERVERS, ofApplication("users", "quotes")), null),
          new Workload("orders", false, 1 << 20, with(WEB_SERVERS, ofApplication("rate")), null));

  private static String[] ofApplication(String... more) {
    return with(Applications.OPTIONS, more).toArray(new String[0]);
  }

  private static List<String> with(List<String> options, String... more) {
    List<String> all = new ArrayList<>(options);
    all.addAll(List.of(more));
    return all;
  }

  /** Whether its clients may connect by WebSocket: those of chat, whose servers have classes. */
  boolean hasWebSocket() {
    return hasClasses;
  }

  /** Whether it is an application on a database, which only web servers serve. */
  boolean isApplication() {
    return newService == null;
  }

  /** Whether it is workload web, some of whose clients speak HTTP/1.0. */
  boolean isSite() {
    return name.equals("web");
  }

  /** Returns the workload with this name on the command line. */
  static Workload find(String name) throws StartupException {
    return ALL.stream()
        .filter(candidate -> candidate.name.equals(name))
        .findFirst()
        .orElseThrow(
            () ->
                new StartupException.Usage(
                    "unknown workload " + name + "; choose one of: " + names(", ")));
  }

  static String names(String separator) {
    return ALL.stream().map(Workload::name).collect(Collectors.joining(separator));
  }

  /** Whether it has an option; with a web server, the requests of rr are for URLs of a site. */
  private boolean has(String option, Arguments given) {
    boolean isOfSite = name.equals("rr") && given.has("server") && SITE.contains(option);
    return isOfSite || ownOptions.contains(option);
  }

  /** Fails if the command line sets an option that only another workload has. */
  void rejectOptionsOfOthers(Arguments given) throws StartupException {
    for (Workload other : ALL) {
      for (String name : other.ownOptions) {
        if (given.has(name) && !has(name, given)) {
          throw new StartupException.Usage("--" + name + " belongs to --workload " + other.name);
        }
      }
    }
  }

  /** Creates the service of one server; only workload web has a site. */
  Service service(SiteOptions site) {
    return newService.apply(site);
  }

  private static Service newChat() {
    return new ServerState(
        new Identity(
            "klatch.localhost",
            "klatch-" + Version.get(),
            LocalDate.now(ZoneId.systemDefault()).toString(),
            "Klatch",
            "Come in and talk."));
  }
}
