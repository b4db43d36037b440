package org.klatch.exchange.web;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.klatch.chat.Vectors;

/** Checks the functions of workload web against vectors/web.json. */
class WebVectorsTest {
  private static JsonNode vectors(String name) {
    JsonNode vectors = Vectors.json("web.json").get(name);
    assertTrue(vectors.size() > 1, name);
    return vectors;
  }

  private static long seed(JsonNode vector) {
    return Long.parseUnsignedLong(vector.get("seed").asText());
  }

  private static String fnv1a(String text) {
    return Vectors.fnv1a(text.getBytes(ISO_8859_1));
  }

  @Test
  void paths() {
    for (JsonNode vector : vectors("paths")) {
      FileId file = FileId.parse(vector.get("path").asText());
      JsonNode parts = vector.get("file");
      FileId expected =
          parts.isNull()
              ? null
              : new FileId(parts.get(0).asInt(), parts.get(1).asInt(), parts.get(2).asInt());
      assertEquals(expected, file, vector.toString());
    }
  }

  @Test
  void files() {
    for (JsonNode vector : vectors("files")) {
      FileContent content =
          new Content(seed(vector)).file(FileId.parse(vector.get("path").asText()));
      if (!vector.get("ad").isNull()) {
        content = content.rotated(vector.get("ad").asInt());
      }
      byte[] bytes = new byte[content.sizeBytes()];
      content.put(bytes, 0);
      assertEquals(vector.get("size").asInt(), bytes.length, vector.toString());
      assertEquals(vector.get("first").asText(), new String(bytes, 0, 64, ISO_8859_1));
      assertEquals(vector.get("fnv1a").asText(), Vectors.fnv1a(bytes), vector.toString());
      List<Integer> tags = new ArrayList<>();
      for (int section = 0; content.tagOffset(section) >= 0; section++) {
        tags.add(content.tagOffset(section));
      }
      List<Integer> expected = new ArrayList<>();
      vector.get("tags").forEach(tag -> expected.add(tag.asInt()));
      assertEquals(expected, tags, vector.toString());
    }
  }

  @Test
  void ads() {
    for (JsonNode vector : vectors("ads")) {
      JsonNode expiry = vector.get("expiry_s");
      AdTables tables =
          new AdTables(
              seed(vector),
              new TableOptions(
                  vector.get("users").asInt(),
                  vector.get("now_s").asLong(),
                  expiry.get(0).asLong(),
                  expiry.get(1).asLong()));
      String users = tables.userPersonality();
      String ads = tables.customAds();
      assertEquals(vector.get("first_user").asText(), users.substring(0, 15));
      assertEquals(vector.get("first_ad").asText(), ads.substring(0, 39));
      assertEquals(vector.get("user_personality").asText(), fnv1a(users));
      assertEquals(vector.get("custom_ads").asText(), fnv1a(ads));
      for (JsonNode choice : vector.get("choices")) {
        AdChoice found = tables.choose(choice.get("user").asInt(), choice.get("last_ad").asInt());
        assertEquals(choice.get("cookie").asText(), found.cookie(), choice.toString());
      }
    }
  }

  /** The crowd's requests: the parser delimits them, and the site has what they ask for. */
  @Test
  void lines() throws RefusalException {
    int requests = 0;
    for (JsonNode vector : vectors("lines")) {
      Site site = new Site(new SiteOptions(seed(vector), vector.get("directories").asInt()));
      JsonNode first = vector.get("first");
      for (int i = 0; first != null && i < first.size(); i++) {
        byte[] bytes = first.get(i).asText().getBytes(ISO_8859_1);
        RequestHead head = HeadParser.parse(bytes, 0, bytes.length);
        assertEquals(bytes.length, head.bytes() + head.bodyBytes());
        String body = first.get(i).asText().substring(head.bytes());
        Reply reply =
            site.reply(
                new Request(
                    head.method(), head.path(), head.query(), head.cookie(), body, "10.0.0.1"));
        assertEquals(Status.OK, reply.status(), first.get(i).asText());
        requests++;
      }
    }
    assertTrue(requests > 20, requests + " requests");
  }
}
