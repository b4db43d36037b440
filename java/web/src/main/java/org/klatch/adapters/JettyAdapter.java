package org.klatch.adapters;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.eclipse.jetty.alpn.server.ALPNServerConnectionFactory;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.http.HttpURI;
import org.eclipse.jetty.http2.server.HTTP2CServerConnectionFactory;
import org.eclipse.jetty.http2.server.HTTP2ServerConnectionFactory;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.server.ConnectionFactory;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.SecureRequestCustomizer;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.server.SslConnectionFactory;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.ssl.SslContextFactory;
import org.eclipse.jetty.util.thread.QueuedThreadPool;
import org.eclipse.jetty.util.thread.VirtualThreadPool;
import org.klatch.exchange.web.Reply;
import org.klatch.exchange.web.Request;
import org.klatch.exchange.web.Responder;
import org.klatch.server.Server;
import org.klatch.tls.TlsContexts;
import org.klatch.web.Failures;
import org.klatch.web.StartedServer;
import org.klatch.web.WebServer;
import org.klatch.web.WebServerOptions;

/** Jetty, with a handler of its core API: a reply that blocks occupies no thread. */
public final class JettyAdapter implements WebServer {
  @Override
  public String name() {
    return "jetty";
  }

  @Override
  public Server listen(WebServerOptions options, Responder responder) throws IOException {
    var server =
        new org.eclipse.jetty.server.Server(
            options.isVirtual() ? new VirtualThreadPool() : new QueuedThreadPool(options.pool()));
    HttpConfiguration http = new HttpConfiguration();
    var connector = new ServerConnector(server, protocols(options, http));
    connector.setHost(options.host());
    connector.setPort(options.port());
    connector.setAcceptQueueSize(WebServerOptions.BACKLOG);
    connector.setIdleTimeout(0); // none
    server.addConnector(connector);
    server.setHandler(new SiteHandler(responder));
    try {
      server.start();
    } catch (Exception e) {
      throw Failures.listening(e);
    }
    return new StartedServer(connector.getLocalPort(), () -> Failures.closing(server::stop));
  }

  /** The protocols of a connection, the first one first. */
  private static ConnectionFactory[] protocols(WebServerOptions options, HttpConfiguration http)
      throws IOException {
    List<ConnectionFactory> all = new ArrayList<>();
    if (options.certificate().isPresent()) {
      http.addCustomizer(new SecureRequestCustomizer(false));
      var tls = new SslContextFactory.Server();
      tls.setSslContext(options.certificate().get().context());
      tls.setIncludeProtocols(TlsContexts.PROTOCOL);
      tls.setExcludeCipherSuites();
      tls.setIncludeCipherSuites(TlsContexts.CIPHER);
      all.add(new SslConnectionFactory(tls, options.http2() ? "alpn" : "http/1.1"));
      if (options.http2()) {
        all.add(new ALPNServerConnectionFactory("h2", "http/1.1"));
        all.add(new HTTP2ServerConnectionFactory(http));
      }
      all.add(new HttpConnectionFactory(http));
    } else {
      all.add(new HttpConnectionFactory(http));
      if (options.http2()) {
        all.add(new HTTP2CServerConnectionFactory(http));
      }
    }
    return all.toArray(new ConnectionFactory[0]);
  }

  private static final class SiteHandler extends Handler.Abstract {
    private final Responder responder;

    SiteHandler(Responder responder) {
      this.responder = responder;
    }

    @Override
    public boolean handle(
        org.eclipse.jetty.server.Request request, Response response, Callback callback)
        throws IOException {
      HttpURI uri = request.getHttpURI();
      Reply reply =
          responder.reply(
              new Request(
                  request.getMethod(),
                  uri.getPath(),
                  uri.getQuery(),
                  request.getHeaders().get(HttpHeader.COOKIE),
                  body(request),
                  org.eclipse.jetty.server.Request.getRemoteAddr(request)));
      response.setStatus(reply.status().code());
      HttpFields.Mutable headers = response.getHeaders();
      reply.forEachHeader(headers::put);
      response.write(true, ByteBuffer.wrap(reply.body()), callback);
      return true;
    }

    private static String body(org.eclipse.jetty.server.Request request) throws IOException {
      if (!request.getMethod().equals("POST")) {
        return "";
      }
      var in = Content.Source.asInputStream(request);
      return new String(in.readNBytes(Request.BODY_BYTES_MAX + 1), ISO_8859_1);
    }
  }
}
