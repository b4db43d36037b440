package org.klatch.chat;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

class FramerTest {
  @Test
  void chunkSizeDoesNotChangeTheEventsOfTheVectors() {
    for (JsonNode test : Vectors.json("framing.json").get("cases")) {
      List<byte[]> chunks = new ArrayList<>();
      test.get("chunks").forEach(chunk -> chunks.add(Vectors.unescape(chunk.asText())));
      List<String> expected = new ArrayList<>();
      test.get("events").forEach(event -> expected.add(name(event)));
      String name = test.get("name").asText();
      assertEquals(expected, events(chunks), name);
      for (int size : new int[] {1, 2, 3, 7, 509, 510, 511, 512, 513}) {
        assertEquals(expected, events(split(join(chunks), size)), name + " in chunks of " + size);
      }
    }
  }

  @Property
  void chunkSizeDoesNotChangeTheEvents(
      @ForAll("streams") byte[] stream, @ForAll @IntRange(min = 1, max = 1100) int size) {
    assertEquals(events(split(stream, 1)), events(split(stream, size)));
  }

  @Property
  void linesAreWithinTheLimitAndHoldNoEnding(@ForAll("streams") byte[] stream) {
    for (String event : events(List.of(stream))) {
      if (event.startsWith("line ")) {
        String line = event.substring(5);
        assertTrue(line.length() >= 1 && line.length() <= 510, event);
        assertTrue(line.chars().noneMatch(c -> c == '\r' || c == '\n' || c == 0), event);
      }
    }
  }

  /** Runs of one byte, so that long lines and endings are likely. */
  @Provide
  Arbitrary<byte[]> streams() {
    Arbitrary<String> run =
        Arbitraries.of("a", "\r", "\n", "\r\n", " ", ":", "\u00ff", "\0")
            .flatMap(s -> Arbitraries.of(1, 2, 3, 255, 509, 510, 511, 1500).map(s::repeat));
    return run.list().ofMaxSize(8).map(runs -> LineEncoder.bytes(String.join("", runs)));
  }

  private static String name(JsonNode event) {
    return event.has("line")
        ? "line " + Vectors.latin(Vectors.unescape(event.get("line").asText()))
        : event.fieldNames().next();
  }

  private static List<String> events(List<byte[]> chunks) {
    Framer framer = new Framer(2 * Framer.MAX_LINE);
    List<String> events = new ArrayList<>();
    for (byte[] chunk : chunks) {
      for (int at = 0; at < chunk.length; ) {
        int fillAt = framer.fillAt();
        int size = Math.min(chunk.length - at, framer.buffer().length - fillAt);
        assertTrue(size > 0, "there is always room");
        System.arraycopy(chunk, at, framer.buffer(), fillAt, size);
        framer.filled(size);
        at += size;
        drain(framer, events);
      }
    }
    return events;
  }

  private static void drain(Framer framer, List<String> events) {
    while (true) {
      switch (framer.next()) {
        case LINE -> {
          int size = framer.end() - framer.start();
          events.add(
              "line "
                  + Vectors.latin(framer.buffer()).substring(framer.start()).substring(0, size));
        }
        case TOO_LONG -> events.add("too_long");
        case NUL -> events.add("nul");
        case NONE -> {
          return;
        }
      }
    }
  }

  private static byte[] join(List<byte[]> chunks) {
    StringBuilder all = new StringBuilder();
    chunks.forEach(chunk -> all.append(Vectors.latin(chunk)));
    return LineEncoder.bytes(all.toString());
  }

  private static List<byte[]> split(byte[] bytes, int size) {
    List<byte[]> chunks = new ArrayList<>();
    for (int at = 0; at < bytes.length; at += size) {
      chunks.add(java.util.Arrays.copyOfRange(bytes, at, Math.min(bytes.length, at + size)));
    }
    return chunks;
  }
}
