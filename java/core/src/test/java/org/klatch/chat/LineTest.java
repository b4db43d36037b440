package org.klatch.chat;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.api.Test;

class LineTest {
  private final Line line = new Line();

  @Test
  void parsesTheVectors() {
    for (JsonNode test : Vectors.json("parse.json").get("lines")) {
      String text = test.get("line").asText();
      byte[] bytes = Vectors.utf8("xx" + text + "yy");
      boolean parsed = line.parse(bytes, 2, bytes.length - 2);
      if (test.has("error")) {
        assertFalse(parsed, text);
        continue;
      }
      assertTrue(parsed, text);
      assertEquals(latin(test.get("prefix").asText("")), prefix(bytes), text);
      assertEquals(latin(test.get("command").asText()), line.command(), text);
      assertEquals(test.get("params").size(), line.params(), text);
      for (int i = 0; i < line.params(); i++) {
        assertEquals(latin(test.get("params").get(i).asText()), line.param(i), text);
      }
    }
  }

  @Test
  void commandsMatchInAnyCase() {
    for (String text : new String[] {"PRIVMSG #a x", "privmsg #a x", "PrivMsg #a x"}) {
      byte[] bytes = Vectors.utf8(text);
      assertTrue(line.parse(bytes, 0, bytes.length));
      assertTrue(line.is(LineEncoder.bytes("PRIVMSG")), text);
      assertFalse(line.is(LineEncoder.bytes("PRIVMSH")), text);
      assertFalse(line.is(LineEncoder.bytes("PRIV")), text);
    }
  }

  /** Only the last parameter has spaces, and all parameters lie within the line. */
  @Property
  void anyBytesGiveParametersWithinTheLine(@ForAll("lines") byte[] bytes) {
    if (!line.parse(bytes, 0, bytes.length)) {
      return;
    }
    assertFalse(line.command().isEmpty());
    assertFalse(line.command().contains(" "));
    assertTrue(line.params() <= Line.MAX_PARAMS);
    for (int i = 0; i < line.params(); i++) {
      assertTrue(line.paramStart(i) <= line.paramEnd(i) && line.paramEnd(i) <= bytes.length);
      if (i < line.params() - 1) {
        assertFalse(line.param(i).isEmpty() || line.param(i).contains(" "));
      }
    }
    assertEquals("", line.param(line.params()));
  }

  @Provide
  Arbitrary<byte[]> lines() {
    Arbitrary<String> piece =
        Arbitraries.of(" ", ":", "  ", " :", "a", "PRIVMSG", "#a", "\u00ff", "\1", "@", "001", ",");
    return piece.list().ofMaxSize(40).map(pieces -> LineEncoder.bytes(String.join("", pieces)));
  }

  private String prefix(byte[] bytes) {
    return Vectors.latin(bytes).substring(line.prefixStart(), line.prefixEnd());
  }

  private static String latin(String text) {
    return Vectors.latin(Vectors.utf8(text));
  }
}
