package org.klatch.adapters;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.catalina.LifecycleException;
import org.apache.catalina.connector.Connector;
import org.apache.catalina.core.StandardContext;
import org.apache.catalina.startup.Tomcat;
import org.apache.coyote.http2.Http2Protocol;
import org.apache.tomcat.util.net.SSLHostConfig;
import org.apache.tomcat.util.net.SSLHostConfigCertificate;
import org.klatch.exchange.web.Responder;
import org.klatch.server.Server;
import org.klatch.tls.TlsContexts;
import org.klatch.web.Failures;
import org.klatch.web.ServerCertificate;
import org.klatch.web.StartedServer;
import org.klatch.web.WebServer;
import org.klatch.web.WebServerOptions;

/** Tomcat, with a servlet: a reply that blocks occupies a thread. */
public final class TomcatAdapter implements WebServer {
  /** A suite of TLS 1.2, which is off: Tomcat wants one. */
  private static final String TLS_1_2_CIPHER = "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256";

  @Override
  public String name() {
    return "tomcat";
  }

  @Override
  public Server listen(WebServerOptions options, Responder responder) throws IOException {
    Path folder = Files.createTempDirectory("klatch-tomcat");
    Tomcat tomcat = new Tomcat();
    tomcat.setBaseDir(folder.toString());
    tomcat.setConnector(connector(options));
    StandardContext context = (StandardContext) tomcat.addContext("", folder.toString());
    // The searches for leaks of applications that are replaced need options of the JVM.
    context.setClearReferencesThreadLocals(false);
    context.setClearReferencesRmiTargets(false);
    Tomcat.addServlet(context, "responder", new SiteServlet(responder)).addMapping("/");
    try {
      tomcat.start();
    } catch (LifecycleException e) {
      throw Failures.listening(e);
    }
    int port = tomcat.getConnector().getLocalPort();
    return new StartedServer(port, () -> Failures.closing(tomcat::stop));
  }

  static Connector connector(WebServerOptions options) {
    Connector connector = new Connector();
    connector.setPort(options.port());
    connector.setThrowOnFailure(true);
    set(connector, "address", options.host());
    set(connector, "acceptCount", WebServerOptions.BACKLOG);
    set(connector, "maxConnections", -1);
    set(connector, "maxKeepAliveRequests", -1);
    set(connector, "connectionTimeout", WebServerOptions.REQUEST_TIMEOUT_MS);
    set(connector, "keepAliveTimeout", -1); // none between requests
    set(connector, "maxThreads", options.pool());
    set(connector, "useVirtualThreads", options.isVirtual());
    options.certificate().ifPresent(certificate -> secure(connector, certificate));
    if (options.http2()) {
      Http2Protocol http2 = new Http2Protocol();
      http2.setKeepAliveTimeout(-1); // none between requests
      connector.addUpgradeProtocol(http2);
    }
    return connector;
  }

  private static void secure(Connector connector, ServerCertificate certificate) {
    set(connector, "SSLEnabled", true);
    connector.setSecure(true);
    connector.setScheme("https");
    SSLHostConfig host = new SSLHostConfig();
    host.setProtocols(TlsContexts.PROTOCOL);
    host.setCipherSuites(TlsContexts.CIPHER);
    host.setCiphers(TLS_1_2_CIPHER); // those of its default would be offered in TLS 1.3 too
    var files = new SSLHostConfigCertificate(host, SSLHostConfigCertificate.Type.UNDEFINED);
    files.setCertificateFile(certificate.chain().toAbsolutePath().toString());
    files.setCertificateKeyFile(certificate.key().toAbsolutePath().toString());
    host.addCertificate(files);
    connector.addSslHostConfig(host);
  }

  static void set(Connector connector, String name, Object value) {
    if (!connector.setProperty(name, value.toString())) {
      throw new IllegalStateException("Tomcat has no property " + name);
    }
  }
}
