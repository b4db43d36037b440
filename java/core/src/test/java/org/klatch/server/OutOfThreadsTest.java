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
import org.klatch.chat.Identity;
import org.klatch.chat.ServerState;
import org.klatch.exchange.EchoService;
import org.klatch.service.Service;

/** Behaviour when no thread can be created. */
class OutOfThreadsTest {
  private final BlockingQueue<String> log = new LinkedBlockingQueue<>();
  private ThreadedServer server;

  @AfterEach
  void stop() throws IOException {
    server.close();
  }

  @Test
  void aFailedThreadStartClosesOnlyItsConnection() throws Exception {
    AtomicInteger made = new AtomicInteger();
    // The second connection gets no sender, the third no receiver.
    ThreadFactory scarce =
        work -> {
          int number = made.incrementAndGet();
          // A connection creates its receiver first, then its sender.
          return number == 4 || number == 5 ? new Unstartable(work) : new Thread(work);
        };
    Identity identity = new Identity("test", "1", "today", "Klatch", "Hello.");
    int port = start(scarce, new ServerState(identity));
    try (Client ann = Client.joined(port, "ann")) {
      for (int i = 0; i < 2; i++) {
        try (Client rejected = new Client(port)) {
          rejected.closedAfter("ERROR :Closing link: (Out of threads)");
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

  @Test
  void anEchoConnectionHasOneThreadAndEndsSilentlyWithoutIt() throws Exception {
    AtomicInteger made = new AtomicInteger();
    ThreadFactory scarce =
        work -> made.incrementAndGet() == 2 ? new Unstartable(work) : new Thread(work);
    int port = start(scarce, new EchoService());
    byte[] bytes = EchoClient.randomBytes(100, 1);
    try (EchoClient first = new EchoClient(port)) {
      first.echo(bytes);
      try (EchoClient rejected = new EchoClient(port)) {
        rejected.expectEnd();
      }
      String line = log.poll(30, TimeUnit.SECONDS);
      assertTrue(line.startsWith("closed a connection: unable to create native thread"), line);
      try (EchoClient third = new EchoClient(port)) {
        third.echo(bytes);
      }
      first.echo(bytes);
    }
    assertEquals(3, made.get());
  }

  /** A thread that cannot be started. */
  private static final class Unstartable extends Thread {
    Unstartable(Runnable work) {
      super(work);
    }

    @Override
    public synchronized void start() {
      throw new OutOfMemoryError("unable to create native thread");
    }
  }

  private int start(ThreadFactory threads, Service service) throws IOException {
    Options options = new Options("127.0.0.1", 0, true, false, 1, false, 1 << 20, 30, 10);
    server = new ThreadedServer(options, service, threads, log::add);
    new Thread(server::run, "test server").start();
    return server.port();
  }
}
