package org.klatch.chat;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.databind.JsonNode;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.CharRange;
import org.junit.jupiter.api.Test;

class NamesTest {
  private final JsonNode vectors = Vectors.json("names.json");

  @Test
  void validatesNicks() {
    for (JsonNode nick : vectors.get("nicks")) {
      boolean valid = nick.get("valid").asBoolean();
      assertEquals(valid, Names.validNick(latin(nick.get("name"))), nick.toString());
    }
  }

  @Test
  void validatesChannels() {
    for (JsonNode channel : vectors.get("channels")) {
      boolean valid = channel.get("valid").asBoolean();
      assertEquals(valid, Names.validChannel(latin(channel.get("name"))), channel.toString());
    }
  }

  @Test
  void foldsEqualNamesToTheSameForm() {
    for (JsonNode pair : vectors.get("folds")) {
      boolean same = Names.fold(latin(pair.get("a"))).equals(Names.fold(latin(pair.get("b"))));
      assertEquals(pair.get("same").asBoolean(), same, pair.toString());
    }
  }

  @Property
  void foldingIsIdempotent(@ForAll @CharRange(to = '\u00ff') String name) {
    String folded = Names.fold(name);
    assertEquals(folded, Names.fold(folded));
    assertEquals(name.length(), folded.length());
    assertEquals(Names.validChannel(name), Names.validChannel(folded));
  }

  private static String latin(JsonNode name) {
    return Vectors.latin(Vectors.utf8(name.asText()));
  }
}
