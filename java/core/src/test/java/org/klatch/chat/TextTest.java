package org.klatch.chat;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.api.Test;

class TextTest {
  @Test
  void writesAndReadsTheGoodVectors() {
    for (JsonNode good : Vectors.json("text.json").get("good")) {
      int room = good.get("room").asInt();
      int user = good.get("user").asInt();
      long sequence = good.get("sequence").asLong();
      long time = good.get("time_ns").asLong();
      byte[] expected = Vectors.utf8(good.get("text").asText());

      byte[] written = new byte[good.get("size").asInt() + 2];
      Text.write(written, 1, written.length - 2, room, user, sequence, time);
      assertEquals("\0" + Vectors.latin(expected) + "\0", Vectors.latin(written));

      Text text = new Text();
      assertTrue(text.read(written, 1, written.length - 1, room));
      assertEquals(user, text.user());
      assertEquals(sequence, text.sequence());
      assertEquals(time, text.timeNs());
    }
  }

  @Test
  void rejectsTheBadVectors() {
    for (JsonNode bad : Vectors.json("text.json").get("bad")) {
      byte[] text = Vectors.utf8(bad.get("text").asText());
      int room = bad.get("room").asInt();
      assertFalse(new Text().read(text, 0, text.length, room), bad.get("why").asText());
    }
  }

  @Property
  void anyChangedByteIsDetected(
      @ForAll @IntRange(min = 1, max = 65535) int room,
      @ForAll @IntRange(max = 9999) int user,
      @ForAll @LongRange(max = 0xffffffffL) long sequence,
      @ForAll @LongRange(max = 0xffffffffffffL) long time,
      @ForAll @IntRange(min = Text.MIN_SIZE, max = Text.MAX_SIZE) int size,
      @ForAll @IntRange(max = Text.MAX_SIZE - 1) int index,
      @ForAll byte other) {
    byte[] bytes = new byte[size];
    Text.write(bytes, 0, size, room, user, sequence, time);
    assertTrue(new Text().read(bytes, 0, size, room));
    assertFalse(new Text().read(bytes, 0, size, room % 65535 + 1), "read as another room's text");
    int changed = index % size;
    boolean same = bytes[changed] == other;
    bytes[changed] = other;
    assertEquals(same, new Text().read(bytes, 0, size, room));
  }

  @Property
  void arbitraryBytesAreRejected(@ForAll byte[] bytes) {
    assertFalse(new Text().read(bytes, 0, bytes.length, 1));
  }
}
