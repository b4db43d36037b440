package org.klatch.websocket;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;

import org.junit.jupiter.api.Test;

class FrameCacheTest {
  private final FrameCache texts = new FrameCache(true);
  private final FrameCache binaries = new FrameCache(false);

  @Test
  void aLineIsFramedOnceForAllMembersOfARoom() {
    byte[] line = "PING :a\r\n".getBytes(ISO_8859_1);
    byte[] frame = texts.frame(line);
    assertArrayEquals("\u0081\u0007PING :a".getBytes(ISO_8859_1), frame);
    assertSame(frame, texts.frame(line));
    assertNotSame(frame, texts.frame(line.clone()));
    assertArrayEquals(frame, texts.frame(line));
  }

  @Test
  void onlyATextReplacesWhatIsNotUtf8() {
    byte[] line = "a\u00ff\r\n".getBytes(ISO_8859_1);
    assertEquals("\u0082\u0002a\u00ff", new String(binaries.frame(line), ISO_8859_1));
    byte[] text = texts.frame(line);
    assertEquals("a\ufffd", new String(text, 2, text.length - 2, UTF_8));
  }
}
