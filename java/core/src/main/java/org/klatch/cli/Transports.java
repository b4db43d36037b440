package org.klatch.cli;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.ServiceLoader;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.klatch.service.Service;
import org.klatch.tls.JdkTls;
import org.klatch.tls.TlsProvider;
import org.klatch.tls.TlsService;
import org.klatch.websocket.WebSocketService;

/** The option {@code transport} of servers and crowds: what carries the lines. */
enum Transports {
  PLAIN(false, false),
  WS(true, false),
  TLS(false, true),
  WSS(true, true);

  final boolean webSocket;
  final boolean tls;

  Transports(boolean webSocket, boolean tls) {
    this.webSocket = webSocket;
    this.tls = tls;
  }

  /** Reads the option. */
  static Transports read(Arguments arguments) throws StartupException {
    String name =
        arguments.text(
            "transport", "TRANSPORT", "plain", "plain (lines over TCP), ws (WebSocket), tls, wss");
    return switch (name) {
      case "plain" -> PLAIN;
      case "ws" -> WS;
      case "tls" -> TLS;
      case "wss" -> WSS;
      default ->
          throw new StartupException.Usage("transport must be plain, ws, tls or wss, got " + name);
    };
  }

  /** Reads the options of a server with TLS; null without TLS. */
  Certificate readCertificate(Arguments arguments) throws StartupException {
    String certificate =
        arguments.text("certificate", "FILE", "", "certificate chain in PEM (transport tls, wss)");
    String key = arguments.text("key", "FILE", "", "private key, PKCS #8 in PEM");
    String provider = arguments.text("tls-provider", "NAME", "jdk", names(providers()));
    for (String option : new String[] {"certificate", "key"}) {
      if (arguments.has(option) != tls) {
        throw new StartupException.Usage(
            tls
                ? "transports tls and wss need --certificate and --key"
                : "--" + option + " needs --transport tls or wss");
      }
    }
    if (arguments.has("tls-provider") && !tls) {
      throw new StartupException.Usage("--tls-provider needs --transport tls or wss");
    }
    return tls ? new Certificate(Path.of(certificate), Path.of(key), find(provider)) : null;
  }

  private static TlsProvider find(String name) throws StartupException {
    for (TlsProvider provider : providers()) {
      if (provider.name().equals(name)) {
        return provider;
      }
    }
    throw new StartupException.Usage(
        "unknown TLS provider " + name + "; choose one of: " + names(providers()));
  }

  /** The implementations of TLS on the class path, that of the JDK first. */
  private static List<TlsProvider> providers() {
    Stream<TlsProvider> others =
        ServiceLoader.load(TlsProvider.class).stream().map(ServiceLoader.Provider::get);
    return Stream.concat(Stream.of(new JdkTls()), others).toList();
  }

  private static String names(List<TlsProvider> providers) {
    return providers.stream().map(TlsProvider::name).collect(Collectors.joining(", "));
  }

  /**
   * Wraps a service of lines.
   *
   * @param certificate of a server with TLS, else null
   */
  Service wrap(Service lines, Certificate certificate) throws StartupException {
    Service framed = webSocket ? new WebSocketService(lines) : lines;
    if (!tls) {
      return framed;
    }
    try {
      return new TlsService(
          framed, certificate.provider().engines(certificate.chain(), certificate.key()));
    } catch (IOException e) {
      throw new StartupException(e.getMessage());
    }
  }

  /**
   * The files of a server with TLS, and what uses them.
   *
   * @param chain the certificate chain
   * @param key the private key
   * @param provider the implementation that uses them
   */
  record Certificate(Path chain, Path key, TlsProvider provider) {}
}
