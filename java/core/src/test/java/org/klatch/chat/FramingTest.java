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

class FramingTest {
  @Test
  void vectorsInTheirChunksAndInAnyOther() {
    for (JsonNode test : Vectors.json("framing.json").get("cases")) {
      List<byte[]> chunks = new ArrayList<>();
      test.get("chunks").forEach(chunk -> chunks.add(Vectors.unescape(chunk.asText())));
      List<String> expected = new ArrayList<>();
      test.get("events").forEach(event -> expected.add(name(event)));
      String why = test.get("name").asText();
      assertEquals(expected, events(chunks), why);
      for (int size : new int[] {1, 2, 3, 7, 509, 510, 511, 512, 513}) {
        assertEquals(expected, events(cut(join(chunks), size)), why + " in chunks of " + size);
      }
    }
  }

  @Property
  void chunksMakeNoDifference(
      @ForAll("streams") byte[] stream, @ForAll @IntRange(min = 1, max = 1100) int size) {
    assertEquals(events(cut(stream, 1)), events(cut(stream, size)));
  }

  @Property
  void linesHoldNoEndingAndAreNeverTooLong(@ForAll("streams") byte[] stream) {
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
    return run.list().ofMaxSize(8).map(runs -> Wire.bytes(String.join("", runs)));
  }

  private static String name(JsonNode event) {
    return event.has("line")
        ? "line " + Vectors.latin(Vectors.unescape(event.get("line").asText()))
        : event.fieldNames().next();
  }

  private static List<String> events(List<byte[]> chunks) {
    Framing framing = new Framing(2 * Framing.MAX_LINE);
    List<String> events = new ArrayList<>();
    for (byte[] chunk : chunks) {
      for (int at = 0; at < chunk.length; ) {
        int fillAt = framing.fillAt();
        int size = Math.min(chunk.length - at, framing.buffer().length - fillAt);
        assertTrue(size > 0, "there is always room");
        System.arraycopy(chunk, at, framing.buffer(), fillAt, size);
        framing.filled(size);
        at += size;
        drain(framing, events);
      }
    }
    return events;
  }

  private static void drain(Framing framing, List<String> events) {
    while (true) {
      switch (framing.next()) {
        case LINE -> {
          int size = framing.end() - framing.start();
          events.add(
              "line "
                  + Vectors.latin(framing.buffer()).substring(framing.start()).substring(0, size));
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
    return Wire.bytes(all.toString());
  }

  private static List<byte[]> cut(byte[] bytes, int size) {
    List<byte[]> chunks = new ArrayList<>();
    for (int at = 0; at < bytes.length; at += size) {
      chunks.add(java.util.Arrays.copyOfRange(bytes, at, Math.min(bytes.length, at + size)));
    }
    return chunks;
  }
}
