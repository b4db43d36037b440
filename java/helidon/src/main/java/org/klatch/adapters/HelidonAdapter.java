package org.klatch.adapters;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import io.helidon.common.tls.TlsConfig;
import io.helidon.http.HeaderNames;
import io.helidon.http.HttpPrologue;
import io.helidon.http.Status;
import io.helidon.webserver.http.Handler;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
import io.helidon.webserver.http1.Http1Config;
import io.helidon.webserver.http2.Http2Config;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.Set;
import org.klatch.exchange.web.Reply;
import org.klatch.exchange.web.Request;
import org.klatch.exchange.web.Responder;
import org.klatch.server.Server;
import org.klatch.tls.TlsContexts;
import org.klatch.web.Failures;
import org.klatch.web.StartedServer;
import org.klatch.web.ThreadKind;
import org.klatch.web.WebServer;
import org.klatch.web.WebServerOptions;

/** Helidon's web server: a virtual thread for each connection, and a handler that blocks. */
public final class HelidonAdapter implements WebServer {
  @Override
  public String name() {
    return "helidon";
  }

  @Override
  public boolean speaksHttp10() {
    return false;
  }

  @Override
  public Set<ThreadKind> threadKinds() {
    return Set.of(ThreadKind.VIRTUAL);
  }

  @Override
  public Server listen(WebServerOptions options, Responder responder) throws IOException {
    return Listening.start(options, responder);
  }

  /** Apart from the adapter, which Javas that are too old for Helidon load too. */
  private static final class Listening {
    static Server start(WebServerOptions options, Responder responder) throws IOException {
      var builder =
          io.helidon.webserver.WebServer.builder()
              .protocolsDiscoverServices(false)
              .addProtocol(Http1Config.create())
              .host(options.host())
              .port(options.port())
              .backlog(WebServerOptions.BACKLOG)
              .idleConnectionTimeout(Duration.ofDays(1))
              .maxPayloadSize(Long.MAX_VALUE) // the responder has a limit of its own
              .shutdownHook(false)
              .routing(routing -> routing.any(new SiteHandler(responder)));
      if (options.http2()) {
        builder.addProtocol(Http2Config.create());
      }
      if (options.certificate().isPresent()) {
        TlsConfig.Builder tls =
            TlsConfig.builder()
                .sslContext(options.certificate().get().context())
                .addEnabledProtocol(TlsContexts.PROTOCOL)
                .addEnabledCipherSuite(TlsContexts.CIPHER);
        if (options.http2()) {
          tls.addApplicationProtocol("h2").addApplicationProtocol("http/1.1");
        }
        builder.tls(tls.build());
      }
      var server = builder.build();
      try {
        server.start();
      } catch (RuntimeException e) {
        throw Failures.listening(e);
      }
      return new StartedServer(server.port(), server::stop);
    }
  }

  private record SiteHandler(Responder responder) implements Handler {
    @Override
    public void handle(ServerRequest request, ServerResponse response) throws IOException {
      HttpPrologue prologue = request.prologue();
      String query = prologue.query().rawValue();
      Reply reply =
          responder.reply(
              new Request(
                  prologue.method().text(),
                  prologue.uriPath().rawPath(),
                  query.isEmpty() ? null : query,
                  request.headers().first(HeaderNames.COOKIE).orElse(null),
                  body(request),
                  request.remotePeer().host()));
      response.status(Status.create(reply.status().code()));
      reply.forEachHeader(response::header);
      response.send(reply.body());
    }

    private static String body(ServerRequest request) throws IOException {
      if (!request.content().hasEntity()) {
        return "";
      }
      try (InputStream in = request.content().inputStream()) {
        return new String(in.readNBytes(Request.BODY_BYTES_MAX + 1), ISO_8859_1);
      }
    }
  }
}
