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

/** Whatever clients say, and however many at a time. */
class HallTest {
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

  private final Hall hall = new Hall(new Identity("test", "1", "today", "Klatch", "Hello."));

  @Property
  void nothingThatClientsSayDoesHarm(@ForAll("talks") List<String> talk) {
    List<Client> clients = List.of(new Client(), new Client(), new Client());
    clients.get(0).say("NICK ann\r\nUSER ann 0 * :Ann\r\nJOIN #a\r\n");
    for (int i = 0; i < talk.size(); i++) {
      clients.get(i % clients.size()).say(talk.get(i) + "\r\n");
    }
    clients.forEach(client -> client.session.end("Over"));
    assertEquals(0, hall.registered());
    assertEquals(0, hall.roomCount());
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
  void manyThreadsTalkJoinRenameAndLeaveAtATime() throws Exception {
    int threads = 8;
    ExecutorService pool = Executors.newFixedThreadPool(threads);
    List<Future<?>> all = new ArrayList<>();
    for (int i = 0; i < threads; i++) {
      int number = i;
      all.add(pool.submit(() -> live(new Random(number), number)));
    }
    for (Future<?> each : all) {
      each.get(60, TimeUnit.SECONDS);
    }
    pool.shutdown();
    assertEquals(0, hall.registered());
    assertEquals(0, hall.roomCount());
  }

  private void live(Random random, int number) {
    for (int life = 0; life < 20; life++) {
      Client client = new Client();
      client.say("NICK n" + number + "\r\nUSER u 0 * :u\r\nJOIN #a,#b\r\n");
      for (int i = 0; i < 200; i++) {
        String room = random.nextBoolean() ? "#a" : "#b";
        client.say(
            switch (random.nextInt(6)) {
              case 0 -> "JOIN " + room + "\r\n";
              case 1 -> "PART " + room + "\r\n";
              case 2 -> "NICK n" + number + "_" + i + "\r\n";
              case 3 -> "NAMES #a,#b\r\nWHOIS n0\r\n";
              default -> "PRIVMSG " + room + ",n1 :" + i + "\r\n";
            });
      }
      if (random.nextBoolean()) {
        client.say("QUIT\r\n");
      } else {
        client.session.end("Connection closed");
      }
    }
  }

  /** A client in memory that takes no line that is no line. */
  private final class Client implements Outbox {
    final Session session = hall.open("127.0.0.1", this);
    private final Framing framing = new Framing(0);
    private boolean over;

    void say(String text) {
      byte[] bytes = Wire.bytes(text);
      for (int at = 0; at < bytes.length && !over; ) {
        int fillAt = framing.fillAt();
        int size = Math.min(bytes.length - at, framing.buffer().length - fillAt);
        System.arraycopy(bytes, at, framing.buffer(), fillAt, size);
        framing.filled(size);
        at += size;
        Framing.Event event;
        while (!over && (event = framing.next()) != Framing.Event.NONE) {
          over = !session.take(event, framing);
        }
      }
    }

    @Override
    public void send(byte[] line) {
      String text = Vectors.latin(line);
      assertTrue(text.length() > 2 && text.length() <= Framing.MAX_LINE, text);
      assertTrue(text.endsWith("\r\n"), text);
      String content = text.substring(0, text.length() - 2);
      assertTrue(content.chars().noneMatch(c -> c == 0 || c == '\r' || c == '\n'), text);
    }

    @Override
    public void close() {}
  }
}
