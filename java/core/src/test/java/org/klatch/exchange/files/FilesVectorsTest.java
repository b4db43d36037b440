package org.klatch.exchange.files;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.ByteBuffer;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import org.klatch.chat.Vectors;

/** Checks the contents of files and the order of blocks against vectors/files.json. */
class FilesVectorsTest {
  private static JsonNode vectors(String name) {
    JsonNode vectors = Vectors.json("files.json").get(name);
    assertTrue(vectors.size() > 5, name);
    return vectors;
  }

  private static long seed(JsonNode vector) {
    return Long.parseUnsignedLong(vector.get("seed").asText());
  }

  @Test
  void pages() {
    for (JsonNode vector : vectors("pages")) {
      int file = vector.get("file").asInt();
      assertEquals(vector.get("name").asText(), Pages.fileName(file));
      ByteBuffer page = ByteBuffer.allocate(Pages.PAGE_BYTES);
      new Pages(seed(vector)).put(file, vector.get("page").asInt(), page);
      byte[] bytes = page.array();
      HexFormat hex = HexFormat.of();
      assertEquals(vector.get("first").asText(), hex.formatHex(bytes, 0, 32), vector.toString());
      assertEquals(vector.get("last").asText(), hex.formatHex(bytes, 4088, 4096));
      assertEquals(vector.get("fnv1a").asText(), Vectors.fnv1a(bytes), vector.toString());
    }
  }

  @Test
  void orders() {
    for (JsonNode vector : vectors("orders")) {
      BlockOrder order =
          new BlockOrder(
              seed(vector),
              vector.get("reader").asInt(),
              vector.get("files").asInt(),
              vector.get("blocks_per_file").asLong(),
              vector.get("order").asText().equals("random"));
      for (JsonNode place : vector.get("first")) {
        order.next();
        int[] expected = {place.get(0).asInt(), place.get(1).asInt()};
        assertArrayEquals(expected, new int[] {order.file(), order.block()}, vector.toString());
      }
    }
  }
}
