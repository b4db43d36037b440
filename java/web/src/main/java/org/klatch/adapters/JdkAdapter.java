package org.klatch.adapters;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsParameters;
import com.sun.net.httpserver.HttpsServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import org.klatch.exchange.web.Reply;
import org.klatch.exchange.web.Request;
import org.klatch.exchange.web.Responder;
import org.klatch.server.Server;
import org.klatch.server.VirtualThreads;
import org.klatch.tls.TlsContexts;
import org.klatch.web.StartedServer;
import org.klatch.web.WebServer;
import org.klatch.web.WebServerOptions;

/** The server of the JDK's module jdk.httpserver: a reply that blocks occupies a thread. */
public final class JdkAdapter implements WebServer {
  private static final String PREFIX = "sun.net.httpserver.";

  @Override
  public String name() {
    return "jdk";
  }

  @Override
  public boolean speaksHttp2() {
    return false;
  }

  @Override
  public Server listen(WebServerOptions options, Responder responder) throws IOException {
    // Without it the head and the body of a reply wait for each other's acknowledgement.
    System.setProperty(PREFIX + "nodelay", "true");
    System.setProperty(PREFIX + "maxIdleConnections", "1000000");
    System.setProperty(PREFIX + "idleInterval", "86400");
    System.setProperty(
        PREFIX + "maxReqTime", Integer.toString(WebServerOptions.REQUEST_TIMEOUT_MS / 1000));
    HttpServer server = create(options);
    Executor threads =
        options.isVirtual()
            ? VirtualThreads.executor()
            : Executors.newFixedThreadPool(options.pool());
    server.setExecutor(threads);
    server.createContext("/", exchange -> handle(responder, exchange));
    server.start();
    return new StartedServer(server.getAddress().getPort(), () -> server.stop(0));
  }

  private static HttpServer create(WebServerOptions options) throws IOException {
    var address = new InetSocketAddress(options.host(), options.port());
    if (options.certificate().isEmpty()) {
      return HttpServer.create(address, WebServerOptions.BACKLOG);
    }
    HttpsServer server = HttpsServer.create(address, WebServerOptions.BACKLOG);
    server.setHttpsConfigurator(
        new HttpsConfigurator(options.certificate().get().context()) {
          @Override
          public void configure(HttpsParameters parameters) {
            parameters.setSSLParameters(TlsContexts.parameters());
          }
        });
    return server;
  }

  private static void handle(Responder responder, HttpExchange exchange) throws IOException {
    try (exchange) {
      URI uri = exchange.getRequestURI();
      boolean hasBody = exchange.getRequestMethod().equals("POST");
      byte[] body =
          hasBody ? exchange.getRequestBody().readNBytes(Request.BODY_BYTES_MAX + 1) : new byte[0];
      Reply reply =
          responder.reply(
              new Request(
                  exchange.getRequestMethod(),
                  uri.getRawPath(),
                  uri.getRawQuery(),
                  exchange.getRequestHeaders().getFirst("Cookie"),
                  new String(body, ISO_8859_1),
                  exchange.getRemoteAddress().getAddress().getHostAddress()));
      reply.forEachHeader(exchange.getResponseHeaders()::set);
      boolean isHead = exchange.getRequestMethod().equals("HEAD");
      exchange.sendResponseHeaders(reply.status().code(), isHead ? -1 : reply.body().length);
      if (!isHead) {
        exchange.getResponseBody().write(reply.body());
      }
    }
  }
}
