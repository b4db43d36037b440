package org.klatch.server;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.klatch.web.SiteClient.get;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.klatch.chat.Identity;
import org.klatch.chat.ServerState;
import org.klatch.exchange.EchoService;
import org.klatch.exchange.web.Site;
import org.klatch.exchange.web.SiteOptions;
import org.klatch.exchange.web.SiteService;
import org.klatch.service.Service;
import org.klatch.web.SiteClient;

/** What a client can do to a server of any model and its other clients: nothing that lasts. */
@Timeout(60)
public abstract class AttackRules {
  /** Time that a client has for what it must do. Short, so that a test can wait for its end. */
  private static final int PATIENCE_S = 1;

  private static final String SMALL = get("/file_set/dir00000/class0_0");
  private static final String LARGE = get("/file_set/dir00000/class3_8");
  private static final String HALF_BODY =
      "POST /dynamic HTTP/1.1\r\nHost: h\r\nContent-Length: 50\r\n\r\nurlroot=";

  private final Model model;
  private final int loops;
  private Server server;

  protected AttackRules(Model model, int loops) {
    this.model = model;
    this.loops = loops;
  }

  @AfterEach
  void stop() throws IOException {
    server.close();
  }

  /** Whether the model ends a connection whose client takes no bytes. */
  protected boolean closesStalled() {
    return true;
  }

  private int start(Service service, int sendqBytes) throws IOException {
    Options options =
        new Options("127.0.0.1", 0, true, false, loops, false, sendqBytes, PATIENCE_S, 100);
    server = model.listen(options, service, line -> {});
    new Thread(server::run, "test server").start();
    return server.port();
  }

  private int startSite() throws IOException {
    return start(new SiteService(new Site(new SiteOptions(7, 1))), 16 << 20);
  }

  private static void expectServed(int port) throws IOException {
    try (SiteClient other = new SiteClient(port)) {
      assertEquals(200, other.ask(SMALL).status());
    }
  }

  /** A connection whose client takes few bytes unless it reads. */
  private static Socket narrow(int port) throws IOException {
    Socket socket = new Socket();
    socket.setReceiveBufferSize(4096);
    socket.setSoTimeout(30_000);
    socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
    return socket;
  }

  /** Writes until the server has closed the connection, and reads nothing. */
  private static void writeUntilClosed(Socket socket, String text) {
    byte[] bytes = text.getBytes(ISO_8859_1);
    try {
      while (true) {
        socket.getOutputStream().write(bytes);
      }
    } catch (IOException closed) {
      // as expected
    }
  }

  @Test
  void anIncompleteRequestIsRefusedAfterItsTime() throws IOException {
    int port = startSite();
    for (String half : List.of("G", "GET / HTTP/1.1\r\nHost: h\r\n", HALF_BODY, SMALL + "GET /")) {
      try (SiteClient client = new SiteClient(port)) {
        long begun = System.nanoTime();
        client.send(half);
        expectServed(port);
        if (half.startsWith(SMALL)) {
          assertEquals(200, client.reply().status());
        }
        assertEquals(408, client.reply().status(), half);
        client.expectEnd();
        assertTrue(System.nanoTime() - begun >= PATIENCE_S * 1_000_000_000L, "too early");
      }
    }
  }

  @Test
  void aRequestThatArrivesByteByByteHasNoMoreTime() throws Exception {
    int port = startSite();
    try (SiteClient client = new SiteClient(port)) {
      client.send("GET / HTTP/1.1\r\nA: ");
      while (true) {
        client.send("a");
        Thread.sleep(20); // as such a client does
      }
    } catch (IOException closed) {
      expectServed(port);
    }
  }

  @Test
  void clientsThatAreIdleOrSlowBetweenRequestsStay() throws Exception {
    int port = startSite();
    try (SiteClient idle = new SiteClient(port);
        SiteClient slow = new SiteClient(port)) {
      // At every moment one request is incomplete, but each only for a while.
      slow.send(SMALL.substring(0, 9));
      long end = System.nanoTime() + 3 * PATIENCE_S * 1_000_000_000L;
      while (System.nanoTime() < end) {
        Thread.sleep(200);
        slow.send(SMALL.substring(9) + SMALL.substring(0, 9));
        assertEquals(200, slow.reply().status());
      }
      assertEquals(200, idle.ask(SMALL).status());
    }
  }

  @Test
  void aClientThatDoesNotReadDelaysNobody() throws IOException {
    int port = startSite();
    try (Socket client = narrow(port)) {
      client.getOutputStream().write(LARGE.repeat(40).getBytes(ISO_8859_1));
      expectServed(port);
      if (closesStalled()) {
        writeUntilClosed(client, SMALL);
      }
      expectServed(port);
    }
  }

  @Test
  void aClientOfTheEchoThatDoesNotReadIsClosed() throws IOException {
    int port = start(new EchoService(), 1 << 20);
    if (closesStalled()) {
      try (Socket client = narrow(port)) {
        writeUntilClosed(client, "x".repeat(16 * 1024));
      }
    }
  }

  @Test
  void floodsOfQueriesEndTheirClientAlone() throws IOException {
    Identity identity = new Identity("test", "klatch-test", "2000-01-01", "Klatch", "Hello.");
    int port = start(new ServerState(identity), 64 * 1024);
    try (Client ann = Client.joined(port, "ann")) {
      for (String query : List.of("WHOIS flood", "NAMES #a", "LIST", "PING x")) {
        try (Socket flood = narrow(port)) {
          flood
              .getOutputStream()
              .write("NICK flood\r\nUSER f 0 * :f\r\nJOIN #a\r\n".getBytes(ISO_8859_1));
          writeUntilClosed(flood, (query + "\r\n").repeat(500));
        }
        while (!ann.next().contains(" QUIT ")) {
          // replies and joins before it
        }
        ann.ping("x");
      }
    }
  }
}
