package org.klatch.adapters;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import io.undertow.Undertow;
import io.undertow.UndertowOptions;
import io.undertow.server.HttpHandler;
import io.undertow.server.HttpServerExchange;
import io.undertow.server.protocol.http.AlpnOpenListener;
import io.undertow.util.HttpString;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import org.klatch.exchange.web.Reply;
import org.klatch.exchange.web.Request;
import org.klatch.exchange.web.Responder;
import org.klatch.server.Server;
import org.klatch.server.VirtualThreads;
import org.klatch.tls.TlsContexts;
import org.klatch.web.Failures;
import org.klatch.web.StartedServer;
import org.klatch.web.WebServer;
import org.klatch.web.WebServerOptions;
import org.xnio.Options;
import org.xnio.Sequence;

/** Undertow, with a handler in its event loops, or one that blocks in virtual threads. */
public final class UndertowAdapter implements WebServer {
  /** A suite of TLS 1.2, which is off. Without it Undertow would not offer HTTP/2. */
  private static final String REQUIRED_CIPHER = AlpnOpenListener.REQUIRED_CIPHER;

  @Override
  public String name() {
    return "undertow";
  }

  @Override
  public boolean hasEventLoops() {
    return true;
  }

  @Override
  public Server listen(WebServerOptions options, Responder responder) throws IOException {
    boolean hasWorkers = responder.blocks() && !options.isVirtual();
    int loops = hasWorkers ? Runtime.getRuntime().availableProcessors() : options.pool();
    Executor workers = hasWorkers ? Executors.newFixedThreadPool(options.pool()) : null;
    Executor threads = options.isVirtual() ? VirtualThreads.executor() : workers;
    Undertow.Builder builder = Undertow.builder();
    if (options.certificate().isPresent()) {
      builder
          .addHttpsListener(options.port(), options.host(), options.certificate().get().context())
          .setSocketOption(Options.SSL_ENABLED_PROTOCOLS, Sequence.of(TlsContexts.PROTOCOL))
          .setSocketOption(
              Options.SSL_ENABLED_CIPHER_SUITES, Sequence.of(TlsContexts.CIPHER, REQUIRED_CIPHER));
    } else {
      builder.addHttpListener(options.port(), options.host());
    }
    if (options.http2()) {
      builder.setServerOption(UndertowOptions.ENABLE_HTTP2, true);
    }
    Undertow undertow =
        builder
            .setIoThreads(loops)
            .setSocketOption(Options.BACKLOG, WebServerOptions.BACKLOG)
            .setServerOption(UndertowOptions.NO_REQUEST_TIMEOUT, -1) // none between requests
            .setServerOption(
                UndertowOptions.REQUEST_PARSE_TIMEOUT, WebServerOptions.REQUEST_TIMEOUT_MS)
            .setHandler(new SiteHandler(responder, threads))
            .build();
    try {
      undertow.start();
    } catch (RuntimeException e) {
      throw Failures.listening(e);
    }
    var address = (InetSocketAddress) undertow.getListenerInfo().get(0).getAddress();
    return new StartedServer(address.getPort(), undertow::stop);
  }

  /** Serves a responder in {@code threads}, or if they are null in the event loops. */
  private record SiteHandler(Responder responder, Executor threads) implements HttpHandler {
    @Override
    public void handleRequest(HttpServerExchange exchange) {
      if (threads != null && exchange.isInIoThread()) {
        exchange.startBlocking();
        exchange.dispatch(threads, this);
        return;
      }
      if (!exchange.getRequestMethod().equalToString("POST")) {
        reply(exchange, "");
        return;
      }
      exchange.getRequestReceiver().setMaxBufferSize(Request.BODY_BYTES_MAX);
      exchange
          .getRequestReceiver()
          .receiveFullString(
              this::reply,
              (tooLarge, error) -> reply(tooLarge, "x".repeat(Request.BODY_BYTES_MAX + 1)),
              ISO_8859_1);
    }

    private void reply(HttpServerExchange exchange, String body) {
      String query = exchange.getQueryString();
      Reply reply =
          responder.reply(
              new Request(
                  exchange.getRequestMethod().toString(),
                  exchange.getRequestURI(),
                  query.isEmpty() ? null : query,
                  exchange.getRequestHeaders().getFirst("Cookie"),
                  body,
                  exchange.getSourceAddress().getAddress().getHostAddress()));
      exchange.setStatusCode(reply.status().code());
      reply.forEachHeader(
          (name, value) -> exchange.getResponseHeaders().put(new HttpString(name), value));
      exchange.getResponseSender().send(ByteBuffer.wrap(reply.body()));
    }
  }
}
