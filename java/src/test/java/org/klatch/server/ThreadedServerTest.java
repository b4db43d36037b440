package org.klatch.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.klatch.chat.Hall;
import org.klatch.chat.Identity;

/** What happens to one connection must not touch another. */
class ThreadedServerTest {
  private final BlockingQueue<String> log = new LinkedBlockingQueue<>();
  private ThreadedServer server;

  @AfterEach
  void stop() throws IOException {
    server.close();
  }

  @Test
  void aSlowReaderIsClosedAndOthersSeeItQuit() throws IOException {
    int port = start(options(64 * 1024, 30, 10), Thread::new);
    try (Client slow = Client.joined(port, "slow");
        Client ann = Client.joined(port, "ann")) {
      String message = "PRIVMSG #a :" + "x".repeat(400);
      int said = 0;
      String quit = ":slow!slow@127.0.0.1 QUIT :SendQ exceeded";
      String seen = "";
      // As many as it takes: the kernel's buffers come on top of the queue.
      while (!seen.equals(quit)) {
        assertTrue(said < 200_000, "the slow reader was never closed");
        ann.say((message + "\r\n").repeat(100) + "PING " + said);
        said += 100;
        do {
          seen = ann.next();
        } while (!seen.equals(quit) && !seen.startsWith(":test PONG "));
      }
      ann.ping("still here");
      slow.skipTo("ERROR :Closing link: (SendQ exceeded)");
    }
  }

  @Test
  void whoDoesNotRegisterIsClosedInTime() throws IOException {
    int port = start(options(1 << 20, 1, 10), Thread::new);
    try (Client registered = Client.joined(port, "ann");
        Client silent = new Client(port);
        Client half = new Client(port)) {
      half.say("NICK half");
      silent.closedAfter("ERROR :Closing link: (Registration timed out)");
      half.closedAfter("ERROR :Closing link: (Registration timed out)");
      registered.ping("still here");
    }
  }

  @Test
  void tooManyWhoHaveNotRegisteredAreRefused() throws IOException {
    int port = start(options(1 << 20, 30, 2), Thread::new);
    try (Client ann = Client.joined(port, "ann");
        Client first = new Client(port);
        Client second = new Client(port);
        Client third = new Client(port)) {
      third.closedAfter("ERROR :Closing link: (Too many unregistered connections)");
      first.say("NICK bob\r\nUSER bob 0 * :x");
      first.ping("in");
      try (Client fourth = new Client(port)) {
        fourth.ping("there is room again");
      }
      second.ping("x");
      ann.ping("x");
    }
  }

  @Test
  void whoLeavesWithoutRegisteringMakesRoom() throws IOException {
    int port = start(options(1 << 20, 30, 1), Thread::new);
    for (int i = 0; i < 3; i++) {
      try (Client client = new Client(port)) {
        client.say("QUIT");
        client.closedAfter("ERROR :Closing link: (Quit)");
      }
    }
  }

  @Test
  void aNulEndsOneSessionOnly() throws IOException {
    int port = start(options(1 << 20, 30, 10), Thread::new);
    try (Client ann = Client.joined(port, "ann");
        Client bob = Client.joined(port, "bob")) {
      bob.say("PRIVMSG #a :x\0y");
      bob.closedAfter("ERROR :Closing link: (NUL in input)");
      ann.skipTo(":bob!bob@127.0.0.1 QUIT :NUL in input");
      ann.ping("still here");
    }
  }

  @Test
  void aConnectionThatBreaksIsSeenToQuit() throws IOException {
    int port = start(options(1 << 20, 30, 10), Thread::new);
    try (Client ann = Client.joined(port, "ann")) {
      try (Client bob = Client.joined(port, "bob")) {
        bob.ping("all is read, so that closing is an end of file");
      }
      ann.skipTo(":bob!bob@127.0.0.1 QUIT :Connection closed");
    }
  }

  @Test
  void manyLinesInOnePacketAreAllHandled() throws IOException {
    int port = start(new Options("127.0.0.1", 0, true, 1 << 20, 30, 10), Thread::new);
    try (Client ann = Client.joined(port, "ann")) {
      StringBuilder pings = new StringBuilder();
      for (int i = 0; i < 2000; i++) {
        pings.append("PING ").append(i).append("\r\n");
      }
      ann.say(pings.toString());
      for (int i = 0; i < 2000; i++) {
        assertEquals(":test PONG test :" + i, ann.next());
      }
    }
  }

  @Test
  void withoutAThreadOnlyThatConnectionIsClosed() throws Exception {
    AtomicInteger made = new AtomicInteger();
    // The second connection gets no sender, the third no receiver.
    ThreadFactory scarce =
        work -> {
          int number = made.incrementAndGet();
          // A connection makes its receiver first, then its sender.
          return number == 4 || number == 5 ? new Unstartable(work) : new Thread(work);
        };
    int port = start(options(1 << 20, 30, 10), scarce);
    try (Client ann = Client.joined(port, "ann")) {
      for (int i = 0; i < 2; i++) {
        try (Client refused = new Client(port)) {
          refused.closedAfter("ERROR :Closing link: (Out of threads)");
        }
        String line = log.poll(30, TimeUnit.SECONDS);
        assertTrue(line.startsWith("closed a connection: unable to create native thread"), line);
        assertTrue(line.matches(".*kernel\\.threads-max \\d{3,}, .*"), line);
      }
      try (Client bob = Client.joined(port, "bob")) {
        bob.ping("the server lives on");
      }
      ann.ping("still here");
    }
  }

  /** A thread that the system has no room for. */
  private static final class Unstartable extends Thread {
    Unstartable(Runnable work) {
      super(work);
    }

    @Override
    public synchronized void start() {
      throw new OutOfMemoryError("unable to create native thread");
    }
  }

  private int start(Options options, ThreadFactory threads) throws IOException {
    Hall hall = new Hall(new Identity("test", "1", "today", "Klatch", "Hello."));
    server = new ThreadedServer(options, hall, threads, log::add);
    new Thread(server::run, "test server").start();
    return server.port();
  }

  private static Options options(int sendqBytes, int registrationTimeoutS, int halfOpenMax) {
    return new Options("127.0.0.1", 0, false, sendqBytes, registrationTimeoutS, halfOpenMax);
  }
}
