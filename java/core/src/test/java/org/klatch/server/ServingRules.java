package org.klatch.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.klatch.chat.Identity;
import org.klatch.chat.ServerState;
import org.klatch.service.Service;

/** Rules for every model: events on one connection must not affect another. */
public abstract class ServingRules {
  /** A model with one setting of its knobs. */
  public record Variant(Model model, boolean yield, int loops, boolean coalesce) {
    /** Starts a server of this variant on a free port. */
    Server start(Service service, int sendqBytes, int registrationTimeoutS, int halfOpenMax)
        throws IOException {
      Options options =
          new Options(
              "127.0.0.1",
              0,
              true,
              yield,
              loops,
              coalesce,
              sendqBytes,
              registrationTimeoutS,
              halfOpenMax);
      Server server = model.listen(options, service, line -> {});
      new Thread(server::run, "test server").start();
      return server;
    }
  }

  private final Variant variant;
  private Server server;

  protected ServingRules(Variant variant) {
    this.variant = variant;
  }

  @AfterEach
  void stop() throws IOException {
    server.close();
  }

  @Test
  void overflowClosesTheConnectionAndOthersSeeItQuit() throws IOException {
    int port = start(64 * 1024, 30, 10);
    try (Client slow = Client.joined(port, "slow");
        Client ann = Client.joined(port, "ann")) {
      String message = "PRIVMSG #a :" + "x".repeat(400);
      int sent = 0;
      String quit = ":slow!slow@127.0.0.1 QUIT :SendQ exceeded";
      String seen = "";
      // The number is open: the kernel's buffers add to the queue.
      while (!seen.equals(quit)) {
        assertTrue(sent < 200_000, "the slow reader was never closed");
        ann.send((message + "\r\n").repeat(100) + "PING " + sent);
        sent += 100;
        do {
          seen = ann.next();
        } while (!seen.equals(quit) && !seen.startsWith(":test PONG "));
      }
      ann.ping("still here");
      slow.skipTo("ERROR :Closing link: (SendQ exceeded)");
    }
  }

  @Test
  void registrationTimesOut() throws IOException {
    int port = start(1 << 20, 1, 10);
    try (Client registered = Client.joined(port, "ann");
        Client silent = new Client(port);
        Client half = new Client(port)) {
      half.send("NICK half");
      silent.closedAfter("ERROR :Closing link: (Registration timed out)");
      half.closedAfter("ERROR :Closing link: (Registration timed out)");
      registered.ping("still here");
    }
  }

  @Test
  void unregisteredConnectionsAreLimited() throws IOException {
    int port = start(1 << 20, 30, 2);
    // Several loops accept in any order: a PONG shows that a connection is counted.
    try (Client ann = Client.joined(port, "ann");
        Client first = new Client(port);
        Client second = new Client(port)) {
      first.ping("first is counted");
      second.ping("second is counted");
      try (Client third = new Client(port)) {
        third.closedAfter("ERROR :Closing link: (Too many unregistered connections)");
      }
      first.send("NICK bob\r\nUSER bob 0 * :x");
      first.ping("in");
      try (Client fourth = new Client(port)) {
        fourth.ping("there is room again");
      }
      second.ping("x");
      ann.ping("x");
    }
  }

  @Test
  void anUnregisteredConnectionThatEndsFreesItsPlace() throws IOException {
    int port = start(1 << 20, 30, 1);
    for (int i = 0; i < 3; i++) {
      try (Client client = admitted(port)) {
        client.send("QUIT");
        client.closedAfter("ERROR :Closing link: (Quit)");
      }
    }
  }

  @Test
  void aNulEndsOneSessionOnly() throws IOException {
    int port = start(1 << 20, 30, 10);
    try (Client ann = Client.joined(port, "ann");
        Client bob = Client.joined(port, "bob")) {
      bob.send("PRIVMSG #a :x\0y");
      bob.closedAfter("ERROR :Closing link: (NUL in input)");
      ann.skipTo(":bob!bob@127.0.0.1 QUIT :NUL in input");
      ann.ping("still here");
    }
  }

  @Test
  void endOfFileBecomesAQuitForTheRoom() throws IOException {
    int port = start(1 << 20, 30, 10);
    try (Client ann = Client.joined(port, "ann")) {
      try (Client bob = Client.joined(port, "bob")) {
        bob.ping("all is read, so that closing is an end of file");
      }
      ann.skipTo(":bob!bob@127.0.0.1 QUIT :Connection closed");
    }
  }

  @Test
  void manyLinesInOnePacketAreAllHandled() throws IOException {
    int port = start(1 << 20, 30, 10);
    try (Client ann = Client.joined(port, "ann")) {
      StringBuilder pings = new StringBuilder();
      for (int i = 0; i < 2000; i++) {
        pings.append("PING ").append(i).append("\r\n");
      }
      ann.send(pings.toString());
      for (int i = 0; i < 2000; i++) {
        assertEquals(":test PONG test :" + i, ann.next());
      }
    }
  }

  @Test
  void aResetBecomesAQuitForTheRoom() throws IOException {
    int port = start(1 << 20, 30, 10);
    try (Client ann = Client.joined(port, "ann");
        Client bob = Client.joined(port, "bob")) {
      bob.ping("all is read");
      bob.reset();
      ann.skipTo(":bob!bob@127.0.0.1 QUIT :Connection reset");
      ann.ping("still here");
    }
  }

  @Test
  void aLateReaderGetsAllLinesInOrder() throws IOException {
    int port = start(1 << 30, 30, 10);
    try (Client late = Client.joined(port, "late");
        Client ann = Client.joined(port, "ann")) {
      int count = 20_000; // more than the kernel's buffers take
      String filler = " " + "x".repeat(400) + "\r\n";
      for (int i = 0; i < count; i += 100) {
        StringBuilder lines = new StringBuilder();
        for (int j = i; j < i + 100; j++) {
          lines.append("PRIVMSG #a :").append(j).append(filler);
        }
        ann.send(lines.toString());
      }
      ann.ping("all is sent");
      late.skipTo(":ann!ann@127.0.0.1 JOIN #a");
      for (int i = 0; i < count; i++) {
        String expected = ":ann!ann@127.0.0.1 PRIVMSG #a :" + i + filler;
        assertEquals(expected.strip(), late.next());
      }
      late.ping("all is read");
    }
  }

  @Test
  void aHalfClosedConnectionStillGetsItsReplies() throws IOException {
    int port = start(1 << 20, 30, 10);
    try (Client ann = Client.joined(port, "ann")) {
      ann.send("PING :last");
      ann.endOutput();
      ann.skipTo(":test PONG test :last");
      ann.closedAfter("ERROR :Closing link: (Connection closed)");
    }
  }

  /**
   * Connects until it is admitted: a client may see the close before the server frees the place.
   */
  private static Client admitted(int port) throws IOException {
    long deadlineNs = System.nanoTime() + 30_000_000_000L;
    while (true) {
      Client client = new Client(port);
      try {
        client.ping("admitted");
        return client;
      } catch (IOException | AssertionError rejected) {
        client.close();
        assertTrue(System.nanoTime() < deadlineNs, "no place was freed");
      }
    }
  }

  private int start(int sendqBytes, int registrationTimeoutS, int halfOpenMax) throws IOException {
    ServerState state = new ServerState(new Identity("test", "1", "today", "Klatch", "Hello."));
    server = variant.start(state, sendqBytes, registrationTimeoutS, halfOpenMax);
    return server.port();
  }
}
