package org.klatch.chat;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.api.Test;
import org.klatch.service.Outbox;

/** Any commands in any order, and many sessions at once. */
class ServerStateTest {
  private static final List<String> WORDS =
      List.of(
          "NICK",
          "USER",
          "JOIN",
          "PART",
          "PRIVMSG",
          "NOTICE",
          "QUIT",
          "TOPIC",
          "NAMES",
          "LIST",
          "WHO",
          "WHOIS",
          "MODE",
          "CAP",
          "LS",
          "END",
          "REQ",
          "PASS",
          "PING",
          "AWAY",
          "INVITE",
          "KICK",
          "ISON",
          "USERHOST",
          "MOTD",
          "LUSERS",
          "VERSION",
          "OPER",
          "KILL",
          "WHOWAS",
          "ann",
          "bob",
          "cid",
          "#a",
          "#b",
          "#a,#b",
          "ann,bob",
          "0",
          "*",
          ":",
          ":x y",
          "+n",
          "+b",
          "-o",
          "+X",
          "\u00fc\u0080\u00bf",
          "~",
          ",",
          "test",
          "\1");

  private final ServerState state =
      new ServerState(new Identity("test", "1", "today", "Klatch", "Hello."));

  @Property
  void anyCommandsLeaveNoSessionOrRoomBehind(@ForAll("talks") List<String> talk) {
    List<Client> clients = List.of(new Client(), new Client(), new Client());
    clients.get(0).feed("NICK ann\r\nUSER ann 0 * :Ann\r\nJOIN #a\r\n");
    for (int i = 0; i < talk.size(); i++) {
      clients.get(i % clients.size()).feed(talk.get(i) + "\r\n");
    }
    clients.forEach(client -> client.session.end("Over"));
    assertEquals(0, state.registered());
    assertEquals(0, state.roomCount());
  }

  @Provide
  Arbitrary<List<String>> talks() {
    Arbitrary<String> word = Arbitraries.of(WORDS);
    Arbitrary<String> longWord = Arbitraries.of(WORDS).map(w -> w.repeat(120));
    Arbitrary<String> line =
        Combinators.combine(
                word,
                Arbitraries.frequencyOf(
                        net.jqwik.api.Tuple.of(30, word), net.jqwik.api.Tuple.of(1, longWord))
                    .list()
                    .ofMaxSize(5))
            .as((first, rest) -> first + " " + String.join(" ", rest));
    return line.list().ofMaxSize(40);
  }

  @Test
  void concurrentSessionsLeaveNoSessionOrRoomBehind() throws Exception {
    int threads = 8;
    ExecutorService pool = Executors.newFixedThreadPool(threads);
    List<Future<?>> all = new ArrayList<>();
    for (int i = 0; i < threads; i++) {
      int number = i;
      all.add(pool.submit(() -> runSessions(new Random(number), number)));
    }
    for (Future<?> each : all) {
      each.get(60, TimeUnit.SECONDS);
    }
    pool.shutdown();
    assertEquals(0, state.registered());
    assertEquals(0, state.roomCount());
  }

  private void runSessions(Random random, int number) {
    for (int round = 0; round < 20; round++) {
      Client client = new Client();
      client.feed("NICK n" + number + "\r\nUSER u 0 * :u\r\nJOIN #a,#b\r\n");
      for (int i = 0; i < 200; i++) {
        String room = random.nextBoolean() ? "#a" : "#b";
        client.feed(
            switch (random.nextInt(6)) {
              case 0 -> "JOIN " + room + "\r\n";
              case 1 -> "PART " + room + "\r\n";
              case 2 -> "NICK n" + number + "_" + i + "\r\n";
              case 3 -> "NAMES #a,#b\r\nWHOIS n0\r\n";
              default -> "PRIVMSG " + room + ",n1 :" + i + "\r\n";
            });
      }
      if (random.nextBoolean()) {
        client.feed("QUIT\r\n");
      } else {
        client.session.end("Connection closed");
      }
    }
  }

  /** An in-memory client that checks the form of every line it gets. */
  private final class Client implements Outbox {
    final Session session = state.openSession("127.0.0.1", this);
    private final Framer framer = new Framer(0);
    private boolean ended;

    void feed(String text) {
      byte[] bytes = LineEncoder.bytes(text);
      for (int at = 0; at < bytes.length && !ended; ) {
        int fillAt = framer.fillAt();
        int size = Math.min(bytes.length - at, framer.buffer().length - fillAt);
        System.arraycopy(bytes, at, framer.buffer(), fillAt, size);
        framer.filled(size);
        at += size;
        Framer.Event event;
        while (!ended && (event = framer.next()) != Framer.Event.NONE) {
          ended = !session.handle(event, framer);
        }
      }
    }

    @Override
    public void send(byte[] line) {
      String text = Vectors.latin(line);
      assertTrue(text.length() > 2 && text.length() <= Framer.MAX_LINE, text);
      assertTrue(text.endsWith("\r\n"), text);
      String content = text.substring(0, text.length() - 2);
      assertTrue(content.chars().noneMatch(c -> c == 0 || c == '\r' || c == '\n'), text);
    }

    @Override
    public void close() {}
  }
}
