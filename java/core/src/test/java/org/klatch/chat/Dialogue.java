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

/** Plays one dialogue of vectors/dialogues against a hall. */
final class Dialogue {
  private static final Pattern STEP = Pattern.compile("(\\w+)(>>|>x|>|<<|<x|<)(?: (.*))?");

  private final Hall hall =
      new Hall(
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
          assertEquals(List.of(), List.copyOf(speaker.lines), name + " got more");
          assertEquals(speaker.closeSeen, speaker.closed, name + " was closed");
        });
  }

  private void play(String step, String where) {
    Matcher parts = STEP.matcher(step);
    assertTrue(parts.matches(), where);
    Speaker speaker = speakers.computeIfAbsent(parts.group(1), name -> new Speaker());
    String rest = parts.group(3) == null ? "" : parts.group(3);
    switch (parts.group(2)) {
      case ">" -> speaker.say(Vectors.unescape(rest + "\\r\\n"));
      case ">>" -> speaker.say(Vectors.unescape(rest));
      case ">x" -> speaker.session.end("Connection closed");
      case "<" -> assertEquals(Vectors.latin(Vectors.unescape(rest)), speaker.next(where), where);
      case "<<" -> speaker.skipTo(rest, where);
      default -> {
        assertEquals(List.of(), List.copyOf(speaker.lines), where);
        assertTrue(speaker.closed, where);
        speaker.closeSeen = true;
      }
    }
    if (parts.group(2).equals(">x")) {
      speaker.lines.clear();
      speaker.closeSeen = true;
    }
  }

  private final class Speaker implements Outbox {
    final Deque<String> lines = new ArrayDeque<>();
    final Session session = hall.open("127.0.0.1", this);
    final Framing framing = new Framing(0);
    boolean closed;
    boolean closeSeen;

    @Override
    public void send(byte[] line) {
      String text = Vectors.latin(line);
      assertTrue(text.endsWith("\r\n") && text.length() <= Framing.MAX_LINE, text);
      if (!closed) {
        lines.add(text.substring(0, text.length() - 2));
      }
    }

    @Override
    public void close() {
      closed = true;
    }

    void say(byte[] bytes) {
      for (byte b : bytes) {
        framing.buffer()[framing.fillAt()] = b;
        framing.filled(1);
        Framing.Event event = framing.next();
        if (event != Framing.Event.NONE && !closed) {
          session.take(event, framing);
        }
      }
    }

    String next(String where) {
      String line = lines.poll();
      assertNotNull(line, where + ": got nothing");
      return line;
    }

    void skipTo(String command, String where) {
      Line line = new Line();
      do {
        byte[] bytes = Wire.bytes(next(where));
        assertTrue(line.parse(bytes, 0, bytes.length), where);
      } while (!line.command().equals(command));
    }
  }
}
