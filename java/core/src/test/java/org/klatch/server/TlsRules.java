package org.klatch.server;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.util.Arrays;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.klatch.chat.Identity;
import org.klatch.chat.ServerState;
import org.klatch.crowd.Crowd;
import org.klatch.crowd.Failure;
import org.klatch.crowd.Pacing;
import org.klatch.crowd.Result;
import org.klatch.crowd.TestControl;
import org.klatch.crowd.TestOptions;
import org.klatch.crowd.TlsSession;
import org.klatch.crowd.Transport;
import org.klatch.service.Service;
import org.klatch.tls.JdkTls;
import org.klatch.tls.TlsContexts;
import org.klatch.tls.TlsProvider;
import org.klatch.tls.TlsService;
import org.klatch.websocket.Subprotocol;
import org.klatch.websocket.WebSocketService;

/** Rules for every model that serves the chat over TLS. */
@Timeout(120)
public abstract class TlsRules {
  private static final int ALERT = 21; // type of a record

  private static TestCertificate files;

  private final ServingRules.Variant variant;
  private Server server;

  protected TlsRules(ServingRules.Variant variant) {
    this.variant = variant;
  }

  @BeforeAll
  static void makeCertificate() throws Exception {
    files = new TestCertificate();
  }

  @AfterEach
  void stop() throws IOException {
    server.close();
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aCrowdIsServed(boolean webSocket) throws Exception {
    int port = start(webSocket, 30, 1 << 20);
    var options = crowd(port, webSocket, TlsContexts.client(files.certificate));
    Result result = new Crowd(options, new TestControl()).run();
    assertNull(result.failure());
    assertTrue(result.valid());
    assertEquals(options.expectedReceived(), result.received());
    assertEquals(new TlsSession("TLSv1.3", "TLS_AES_128_GCM_SHA256"), result.tls());
  }

  @Test
  void aCrowdDoesNotTrustAnotherAuthority() throws Exception {
    int port = start(false, 30, 1 << 20);
    var options = crowd(port, false, TlsContexts.client(new TestCertificate().certificate));
    Failure failure = new Crowd(options, new TestControl()).run().failure();
    assertEquals(Failure.Kind.JOIN, failure.kind());
    assertTrue(failure.detail().startsWith("the TLS handshake failed: "), failure.detail());
  }

  @Test
  void aQuitEndsWithTheLastLineAndCloseNotify() throws Exception {
    int port = start(false, 30, 1 << 20);
    try (SSLSocket client = connect(port)) {
      client
          .getOutputStream()
          .write("NICK ann\r\nUSER ann 0 * :x\r\nQUIT\r\n".getBytes(ISO_8859_1));
      // Without close_notify, the end of the stream would be an exception.
      String all = new String(client.getInputStream().readAllBytes(), ISO_8859_1);
      assertTrue(all.endsWith("ERROR :Closing link: (Quit)\r\n"), all);
    }
  }

  @Test
  void bytesOfAnyChunksAreDecrypted() throws Exception {
    int port = start(false, 30, 1 << 20);
    try (SSLSocket client = connect(port)) {
      for (byte b : "PING :one\r\nPING :two\r\n".getBytes(ISO_8859_1)) {
        client.getOutputStream().write(b); // a record each
      }
      client.getOutputStream().write("PING :x\r\n".repeat(5000).getBytes(ISO_8859_1));
      var in = new BufferedReader(new InputStreamReader(client.getInputStream(), ISO_8859_1));
      assertEquals(":test PONG test :one", in.readLine());
      assertEquals(":test PONG test :two", in.readLine());
      for (int i = 0; i < 5000; i++) {
        assertEquals(":test PONG test :x", in.readLine());
      }
    }
  }

  @Test
  void otherVersionsAndSuitesAreRefused() throws Exception {
    int port = start(false, 30, 1 << 20);
    var old = new SSLParameters(null, new String[] {"TLSv1.2"});
    assertThrows(SSLException.class, () -> connect(port, old).close());
    if (!restrictsSuites()) {
      return; // then the client, which offers one suite, selects it
    }
    var other =
        new SSLParameters(new String[] {"TLS_AES_256_GCM_SHA384"}, new String[] {"TLSv1.3"});
    assertThrows(SSLException.class, () -> connect(port, other).close());
  }

  @Test
  void aClientWithoutTlsGetsAnAlertAndNoLine() throws Exception {
    int port = start(false, 30, 1 << 20);
    try (Socket client = new Socket(InetAddress.getLoopbackAddress(), port)) {
      client.setSoTimeout(30_000);
      client.getOutputStream().write("NICK ann\r\nUSER ann 0 * :x\r\n".getBytes(ISO_8859_1));
      assertOnlyAlerts(client.getInputStream().readAllBytes());
    }
  }

  @Test
  void nothingPlainFollowsATimeOut() throws Exception {
    int port = start(false, 1, 1 << 20);
    try (Socket silent = new Socket(InetAddress.getLoopbackAddress(), port)) {
      silent.setSoTimeout(30_000);
      assertOnlyAlerts(silent.getInputStream().readAllBytes());
    }
  }

  /** The end of the stream may come without close_notify, but every record is valid. */
  @Test
  void overflowLeavesNoGapInTheRecords() throws Exception {
    int port = start(false, 30, 64 * 1024);
    try (SSLSocket slow = connect(port);
        SSLSocket ann = connect(port)) {
      var fromServer = new BufferedReader(new InputStreamReader(ann.getInputStream(), ISO_8859_1));
      join(slow, "slow");
      join(ann, "ann");
      String messages = ("PRIVMSG #a :" + "x".repeat(400) + "\r\n").repeat(100);
      String seen = "";
      while (!seen.equals(":slow!slow@127.0.0.1 QUIT :SendQ exceeded")) {
        ann.getOutputStream().write((messages + "PING :x\r\n").getBytes(ISO_8859_1));
        do {
          seen = fromServer.readLine();
        } while (!seen.contains(" PONG ") && !seen.contains(" QUIT "));
      }
      try {
        slow.getInputStream().transferTo(OutputStream.nullOutputStream());
      } catch (SSLException truncated) {
        assertFalse(truncated.toString().contains("Tag mismatch"), truncated.toString());
      }
    }
  }

  private static void join(SSLSocket client, String nick) throws IOException {
    String lines = "NICK " + nick + "\r\nUSER " + nick + " 0 * :x\r\nJOIN #a\r\n";
    client.getOutputStream().write(lines.getBytes(ISO_8859_1));
  }

  private static void assertOnlyAlerts(byte[] records) {
    for (int at = 0; at < records.length; ) {
      assertEquals(ALERT, records[at], Arrays.toString(records));
      at += 5 + (records[at + 3] << 8) + records[at + 4];
    }
  }

  private static SSLSocket connect(int port) throws IOException {
    return connect(port, TlsContexts.parameters());
  }

  private static SSLSocket connect(int port, SSLParameters parameters) throws IOException {
    SSLContext context = TlsContexts.client(files.certificate);
    var socket = (SSLSocket) context.getSocketFactory().createSocket("127.0.0.1", port);
    socket.setSoTimeout(30_000);
    socket.setSSLParameters(parameters);
    socket.startHandshake();
    return socket;
  }

  private static org.klatch.crowd.Options crowd(int port, boolean webSocket, SSLContext tls) {
    Transport transport = new Transport(webSocket, Subprotocol.TEXT, "/", tls);
    return TestOptions.create(port, Pacing.FLOOD)
        .rooms(3)
        .users(5)
        .count(50)
        .transport(transport)
        .build();
  }

  /** Whether the server refuses suites other than its own. */
  protected boolean restrictsSuites() {
    return true;
  }

  /** The implementation of TLS that the server uses. */
  protected TlsProvider provider() {
    return new JdkTls();
  }

  private int start(boolean webSocket, int registrationTimeoutS, int sendqBytes)
      throws IOException {
    Service chat = new ServerState(new Identity("test", "1", "today", "Klatch", "Hello."));
    Service framed = webSocket ? new WebSocketService(chat) : chat;
    Service service = new TlsService(framed, provider().engines(files.certificate, files.key));
    server = variant.start(service, sendqBytes, registrationTimeoutS, 100);
    return server.port();
  }
}
