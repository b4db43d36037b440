package org.klatch.websocket;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.function.IntSupplier;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.klatch.chat.Vectors;

/** The frames of {@code vectors/websocket.json}, in chunks of any size. */
class FrameVectorsTest {
  private static final JsonNode VECTORS = Vectors.json("websocket.json");

  static Stream<JsonNode> frames() {
    return StreamSupport.stream(VECTORS.get("frames").spliterator(), false);
  }

  @ParameterizedTest
  @MethodSource("frames")
  void framesGiveTheirEventsInAnyChunks(JsonNode vector) {
    byte[] bytes = HexFormat.of().parseHex(vector.get("bytes").asText());
    Random random = new Random(1);
    List<String> expected = new ArrayList<>();
    vector.get("events").forEach(event -> expected.add(event.toString()));
    for (int chunk = 1; chunk <= Math.min(20, bytes.length); chunk++) {
      int size = chunk;
      assertEquals(expected, decode(vector, bytes, () -> size), "chunks of " + chunk);
    }
    assertEquals(expected, decode(vector, bytes, () -> bytes.length), "one chunk");
    for (int run = 0; run < 50; run++) {
      IntSupplier sizes = () -> 1 + random.nextInt(bytes.length);
      assertEquals(expected, decode(vector, bytes, sizes), "chunks of random size");
    }
  }

  @Test
  void acceptValuesAreThoseOfTheVectors() {
    for (JsonNode pair : VECTORS.get("accept")) {
      assertEquals(pair.get(1).asText(), AcceptValue.of(pair.get(0).asText()));
    }
  }

  @Test
  void encodedMessagesAreDecodedByTheOtherSide() {
    Random random = new Random(1);
    for (int size : new int[] {0, 1, 7, 8, 125, 126, 127, 65_535, 65_536, 100_000}) {
      byte[] payload = new byte[size + 5];
      random.nextBytes(payload);
      byte[] expected = Arrays.copyOfRange(payload, 3, 3 + size);
      assertDecodes(false, Frames.message(false, payload, 3, 3 + size), expected);
      byte[] masked = new byte[Frames.MAX_HEAD + size];
      int end = Frames.putMessage(masked, 0, false, payload, 3, 3 + size, random.nextInt());
      assertDecodes(true, Arrays.copyOf(masked, end), expected);
    }
  }

  private static void assertDecodes(boolean isServer, byte[] frame, byte[] expected) {
    FrameDecoder decoder = new FrameDecoder(isServer, 100_000);
    decoder.feed(frame, 0, frame.length);
    assertEquals(FrameDecoder.Event.BINARY, decoder.next());
    assertTrue(
        Arrays.equals(decoder.bytes(), 0, decoder.size(), expected, 0, expected.length),
        expected.length + " bytes");
    assertEquals(FrameDecoder.Event.NONE, decoder.next());
  }

  private static List<String> decode(JsonNode vector, byte[] bytes, IntSupplier chunkSizes) {
    boolean isServer = vector.get("role").asText().equals("server");
    FrameDecoder decoder = new FrameDecoder(isServer, VECTORS.get("largest_bytes").asInt());
    List<String> events = new ArrayList<>();
    for (int at = 0; at < bytes.length; ) {
      int end = Math.min(bytes.length, at + chunkSizes.getAsInt());
      decoder.feed(bytes, at, end);
      FrameDecoder.Event event;
      while ((event = decoder.next()) != FrameDecoder.Event.NONE) {
        events.add(describe(event, decoder));
      }
      at = end;
    }
    return events;
  }

  private static String describe(FrameDecoder.Event event, FrameDecoder decoder) {
    String hex = HexFormat.of().formatHex(decoder.bytes(), 0, decoder.size());
    return switch (event) {
      case TEXT -> "{\"text\":\"" + new String(decoder.bytes(), 0, decoder.size(), UTF_8) + "\"}";
      case BINARY -> "{\"binary\":\"" + hex + "\"}";
      case PING -> "{\"ping\":\"" + hex + "\"}";
      case PONG -> "{\"pong\":\"" + hex + "\"}";
      case CLOSE -> {
        String code = decoder.code() == FrameDecoder.NO_CODE ? "null" : "" + decoder.code();
        yield "{\"close\":" + code + ",\"reason\":\"" + decoder.reason() + "\"}";
      }
      case ERROR -> "{\"error\":" + decoder.code() + "}";
      case NONE -> "";
    };
  }
}
