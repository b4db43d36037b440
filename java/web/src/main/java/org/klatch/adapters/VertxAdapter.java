package org.klatch.adapters;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import io.vertx.core.Deployable;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.ThreadingModel;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.net.PemKeyCertOptions;
import io.vertx.core.net.SocketAddress;
import java.io.IOException;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.klatch.exchange.web.Reply;
import org.klatch.exchange.web.Request;
import org.klatch.exchange.web.Responder;
import org.klatch.server.Server;
import org.klatch.tls.TlsContexts;
import org.klatch.web.Failures;
import org.klatch.web.ServerCertificate;
import org.klatch.web.StartedServer;
import org.klatch.web.WebServer;
import org.klatch.web.WebServerOptions;

/**
 * Vert.x: a verticle for each event loop, whose handler runs in it, in workers if it blocks, or in
 * virtual threads.
 */
public final class VertxAdapter implements WebServer {
  @Override
  public String name() {
    return "vertx";
  }

  @Override
  public boolean hasEventLoops() {
    return true;
  }

  @Override
  public Server listen(WebServerOptions options, Responder responder) throws IOException {
    boolean hasWorkers = responder.blocks() && !options.isVirtual();
    int loops = hasWorkers ? Runtime.getRuntime().availableProcessors() : options.pool();
    Vertx vertx = Vertx.vertx(new VertxOptions().setEventLoopPoolSize(loops));
    HttpServerOptions http = new HttpServerOptions().setAcceptBacklog(WebServerOptions.BACKLOG);
    options.certificate().ifPresent(certificate -> secure(http, certificate, options.http2()));
    // All verticles listen on the same port, also if it is a free one.
    SocketAddress address =
        options.port() == 0
            ? SocketAddress.sharedRandomPort(1, options.host())
            : SocketAddress.inetSocketAddress(options.port(), options.host());
    ThreadingModel inThreads = hasWorkers ? ThreadingModel.WORKER : ThreadingModel.EVENT_LOOP;
    ThreadingModel model = options.isVirtual() ? ThreadingModel.VIRTUAL_THREAD : inThreads;
    DeploymentOptions deployment =
        new DeploymentOptions().setInstances(options.pool()).setThreadingModel(model);
    deployment.setWorkerPoolSize(options.pool());
    AtomicInteger port = new AtomicInteger();
    // Each instance is another object.
    Supplier<Deployable> verticles =
        () ->
            context ->
                vertx
                    .createHttpServer(http)
                    .requestHandler(request -> handle(responder, request))
                    .listen(address)
                    .onSuccess(bound -> port.set(bound.actualPort()));
    try {
      vertx.deployVerticle(verticles, deployment).await();
    } catch (RuntimeException e) {
      vertx.close();
      throw Failures.listening(e);
    }
    return new StartedServer(port.get(), () -> vertx.close().await());
  }

  private static void secure(HttpServerOptions http, ServerCertificate certificate, boolean http2) {
    http.setSsl(true)
        .setKeyCertOptions(
            new PemKeyCertOptions()
                .setCertPath(certificate.chain().toString())
                .setKeyPath(certificate.key().toString()))
        .setEnabledSecureTransportProtocols(Set.of(TlsContexts.PROTOCOL))
        .addEnabledCipherSuite(TlsContexts.CIPHER)
        .setUseAlpn(http2);
  }

  private static void handle(Responder responder, HttpServerRequest request) {
    if (request.method().equals(HttpMethod.POST)) {
      request.body().onSuccess(body -> reply(responder, request, body.toString(ISO_8859_1)));
    } else {
      reply(responder, request, "");
    }
  }

  private static void reply(Responder responder, HttpServerRequest request, String body) {
    Request toServe =
        new Request(
            request.method().name(),
            request.path(),
            request.query(),
            request.getHeader("Cookie"),
            body,
            request.remoteAddress().hostAddress());
    send(request, responder.reply(toServe));
  }

  private static void send(HttpServerRequest request, Reply reply) {
    HttpServerResponse response = request.response().setStatusCode(reply.status().code());
    reply.forEachHeader(response::putHeader);
    response.end(Buffer.buffer(reply.body()));
  }
}
