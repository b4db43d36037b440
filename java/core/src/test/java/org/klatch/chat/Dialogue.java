package org.klatch.chat;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.klatch.service.Outbox;

/** Plays one dialogue of vectors/dialogues against a server state. */
final class Dialogue {
  private static final Pattern STEP = Pattern.compile("(\\w+)(>>|>x|>|<<|<x|<)(?: (.*))?");

  private final ServerState state =
      new ServerState(
          new Identity("klatch.test", "klatch-test", "2000-01-01", "Klatch", "Come in and talk."));
  private final Map<String, Speaker> speakers = new HashMap<>();

  void play(List<String> steps) {
    int number = 0;
    for (String step : steps) {
      number++;
      if (!step.isEmpty() && !step.startsWith("#")) {
        play(step, "line " + number + ": " + step);
      }
    }
    speakers.forEach(
        (name, speaker) -> {
          assertEquals(List.of(), List.copyOf(speaker.lines), name + " has unexpected lines");
          assertEquals(speaker.closeExpected, speaker.closed, name + " is closed");
        });
  }

  private void play(String step, String where) {
    Matcher parts = STEP.matcher(step);
    assertTrue(parts.matches(), where);
    Speaker speaker = speakers.computeIfAbsent(parts.group(1), name -> new Speaker());
    String rest = parts.group(3) == null ? "" : parts.group(3);
    switch (parts.group(2)) {
      case ">" -> speaker.feed(Vectors.unescape(rest + "\\r\\n"));
      case ">>" -> speaker.feed(Vectors.unescape(rest));
      case ">x" -> speaker.session.end("Connection closed");
      case "<" -> assertEquals(Vectors.latin(Vectors.unescape(rest)), speaker.next(where), where);
      case "<<" -> speaker.skipTo(rest, where);
      default -> {
        assertEquals(List.of(), List.copyOf(speaker.lines), where);
        assertTrue(speaker.closed, where);
        speaker.closeExpected = true;
      }
    }
    if (parts.group(2).equals(">x")) {
      speaker.lines.clear();
      speaker.closeExpected = true;
    }
  }

  private final class Speaker implements Outbox {
    final Deque<String> lines = new ArrayDeque<>();
    final Session session = state.openSession("127.0.0.1", this);
    final Framer framer = new Framer(0);
    boolean closed;
    boolean closeExpected;

    @Override
    public void send(byte[] line) {
      String text = Vectors.latin(line);
      assertTrue(text.endsWith("\r\n") && text.length() <= Framer.MAX_LINE, text);
      if (!closed) {
        lines.add(text.substring(0, text.length() - 2));
      }
    }

    @Override
    public void close() {
      closed = true;
    }

    void feed(byte[] bytes) {
      for (byte b : bytes) {
        framer.buffer()[framer.fillAt()] = b;
        framer.filled(1);
        Framer.Event event = framer.next();
        if (event != Framer.Event.NONE && !closed) {
          session.handle(event, framer);
        }
      }
    }

    String next(String where) {
      String line = lines.poll();
      assertNotNull(line, where + ": got no line");
      return line;
    }

    void skipTo(String command, String where) {
      Line line = new Line();
      do {
        byte[] bytes = LineEncoder.bytes(next(where));
        assertTrue(line.parse(bytes, 0, bytes.length), where);
      } while (!line.command().equals(command));
    }
  }
}
