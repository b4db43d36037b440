package org.klatch.adapters;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.ServiceLoader;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.klatch.exchange.web.Site;
import org.klatch.exchange.web.SiteOptions;
import org.klatch.server.TestCertificate;
import org.klatch.server.VirtualThreads;
import org.klatch.tls.TlsContexts;
import org.klatch.web.Logging;
import org.klatch.web.ServerCertificate;
import org.klatch.web.ThreadKind;
import org.klatch.web.WebServer;
import org.klatch.web.WebServerOptions;

/** The site over TLS and in HTTP/2, on each server. */
class ProtocolsTest {
  private static TestCertificate certificate;

  @BeforeAll
  static void prepare() throws Exception {
    Logging.warningsOnly();
    certificate = new TestCertificate();
  }

  /** Each server, with TLS and without it, with HTTP/2 if it speaks it and without it. */
  static List<Arguments> all() {
    boolean hasVirtual = Runtime.version().feature() >= VirtualThreads.JAVA_MIN;
    List<Arguments> all = new ArrayList<>();
    for (WebServer server : ServiceLoader.load(WebServer.class)) {
      boolean isHere = hasVirtual || server.threadKinds().contains(ThreadKind.PLATFORM);
      for (boolean tls : new boolean[] {false, true}) {
        for (boolean http2 : new boolean[] {false, true}) {
          if (isHere && (tls || http2) && (server.speaksHttp2() || !http2)) {
            all.add(Arguments.of(server, server.name(), tls, http2));
          }
        }
      }
    }
    return all;
  }

  @ParameterizedTest
  @MethodSource("all")
  void clientsGetTheSiteInTheVersionThatTheyAgreeTo(
      WebServer server, String name, boolean tls, boolean http2) throws Exception {
    ThreadKind threads =
        server.threadKinds().contains(ThreadKind.PLATFORM)
            ? ThreadKind.PLATFORM
            : ThreadKind.VIRTUAL;
    Optional<ServerCertificate> files =
        tls
            ? Optional.of(new ServerCertificate(certificate.certificate, certificate.key))
            : Optional.empty();
    var options = new WebServerOptions("127.0.0.1", 0, threads, 20, files, http2);
    try (var started = server.listen(options, new Site(new SiteOptions(1, 1)))) {
      HttpClient client =
          HttpClient.newBuilder()
              .sslContext(TlsContexts.client(certificate.certificate))
              .version(HttpClient.Version.HTTP_2)
              .build();
      String root = (tls ? "https" : "http") + "://127.0.0.1:" + started.port();
      for (String path : List.of("/file_set/dir00000/class3_8", "/file_set/dir00000/class0_1")) {
        HttpResponse<byte[]> reply = ask(client, root + path);
        assertEquals(200, reply.statusCode(), name);
        assertEquals(
            http2 ? HttpClient.Version.HTTP_2 : HttpClient.Version.HTTP_1_1, reply.version(), name);
        assertEquals(path.endsWith("8") ? 921_600 : 204, reply.body().length, name);
        assertEquals(tls, reply.sslSession().isPresent(), name);
        reply
            .sslSession()
            .ifPresent(session -> assertEquals(TlsContexts.CIPHER, session.getCipherSuite()));
      }
      assertEquals(404, ask(client, root + "/nothing").statusCode(), name);
    }
  }

  private static HttpResponse<byte[]> ask(HttpClient client, String url)
      throws IOException, InterruptedException {
    return client.send(HttpRequest.newBuilder(URI.create(url)).build(), BodyHandlers.ofByteArray());
  }
}
