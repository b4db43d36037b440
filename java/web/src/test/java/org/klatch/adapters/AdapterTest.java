package org.klatch.adapters;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;
import java.util.ServiceLoader;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.klatch.exchange.web.Site;
import org.klatch.exchange.web.SiteOptions;
import org.klatch.server.Server;
import org.klatch.server.VirtualThreads;
import org.klatch.web.Logging;
import org.klatch.web.SiteRules;
import org.klatch.web.ThreadKind;
import org.klatch.web.WebServer;
import org.klatch.web.WebServerOptions;

/** Runs the rules of workload web on each server, with the kinds of threads of this Java. */
@ParameterizedClass
@MethodSource("all")
class AdapterTest extends SiteRules {
  private final WebServer webServer;
  private final ThreadKind threads;

  AdapterTest(WebServer webServer, String name, ThreadKind threads) {
    this.webServer = webServer;
    this.threads = threads;
  }

  @BeforeAll
  static void warningsOnly() {
    Logging.warningsOnly();
  }

  static List<Arguments> all() {
    boolean hasVirtual = Runtime.version().feature() >= VirtualThreads.JAVA_MIN;
    List<Arguments> all = new ArrayList<>();
    for (WebServer webServer : ServiceLoader.load(WebServer.class)) {
      if (!webServer.speaksHttp10()) {
        continue;
      }
      for (ThreadKind threads : webServer.threadKinds()) {
        if (threads == ThreadKind.PLATFORM || hasVirtual) {
          all.add(Arguments.of(webServer, webServer.name(), threads));
        }
      }
    }
    return all;
  }

  @Override
  protected Server start(Site site) throws IOException {
    return listen(0, site);
  }

  private Server listen(int port, Site site) throws IOException {
    int pool = webServer.hasEventLoops() ? 2 : 100;
    return webServer.listen(new WebServerOptions("127.0.0.1", port, threads, pool), site);
  }

  @Test
  void aPortInUseIsReported() throws IOException {
    Site site = new Site(new SiteOptions(1, 1));
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      IOException error = assertThrows(IOException.class, () -> listen(taken.getLocalPort(), site));
      assertTrue(error.getMessage().contains("Address already in use"), error.getMessage());
    }
  }
}
