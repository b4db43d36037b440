package org.klatch.crowd;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import org.junit.jupiter.api.Test;
import org.klatch.chat.Vectors;

class PrintableTest {
  @Test
  void textOfOthersCannotControlATerminal() {
    JsonNode lines = Vectors.json("printable.json").get("lines");
    assertTrue(lines.size() > 5);
    for (JsonNode line : lines) {
      assertEquals(line.get("printable").asText(), Printable.of(line.get("text").asText()));
    }
    assertEquals(
        "\\u001b]0;x\\u0007 \\u000d\\u000a\\u202e\\u009b\\udb40\\udc41",
        Printable.of("\u001b]0;x\u0007 \r\n\u202e\u009b\udb40\udc41"));
    assertNull(Printable.of(null));
  }

  @Test
  void whatAServerSaysIsPrintableInFaultsAndFailures() {
    Failure failure = new Failure(Failure.Kind.REFUSED, 1, 2, "the server answered: \u001b[2J");
    assertEquals("the server answered: \\u001b[2J", failure.detail());
    Fault fault = new Fault(Fault.Kind.CORRUPTED, 1, 2, 3, 4L, 1, "got: \u202etxt");
    assertEquals("got: \\u202etxt", fault.detail());
  }
}
