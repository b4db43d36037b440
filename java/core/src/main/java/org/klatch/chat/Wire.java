package org.klatch.chat;

import java.nio.charset.StandardCharsets;

/**
 * Makes the lines that a server sends: never over 512 bytes, never cut inside a UTF-8 character.
 */
final class Wire {
  private static final int MAX_CONTENT = Framing.MAX_LINE - 2;

  private Wire() {}

  /** The bytes of {@code text}, one a character. */
  static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.ISO_8859_1);
  }

  /** A whole line of {@code text}, cut where it must be. */
  static byte[] line(String text) {
    byte[] bytes = bytes(text);
    return line(bytes, 0, bytes.length, new byte[0]);
  }

  /**
   * A whole line of {@code heads}, one after the other, and {@code tail[from, to)}, cut where it
   * must be.
   */
  static byte[] line(byte[] tail, int from, int to, byte[]... heads) {
    int headSize = 0;
    for (byte[] head : heads) {
      headSize += head.length;
    }
    int tailSize = cut(tail, from, to, MAX_CONTENT - headSize);
    byte[] line = new byte[headSize + tailSize + 2];
    int at = 0;
    for (byte[] head : heads) {
      System.arraycopy(head, 0, line, at, head.length);
      at += head.length;
    }
    System.arraycopy(tail, from, line, at, tailSize);
    line[line.length - 2] = '\r';
    line[line.length - 1] = '\n';
    return line;
  }

  /** As much of {@code text} as fits into {@code size} bytes. */
  static String cut(String text, int size) {
    byte[] bytes = bytes(text);
    return text.substring(0, cut(bytes, 0, bytes.length, size));
  }

  private static int cut(byte[] bytes, int from, int to, int size) {
    if (to - from <= size) {
      return to - from;
    }
    // A character has at most three bytes that go on; more are no UTF-8, and then any cut is right.
    for (int back = 0; back <= Math.min(3, size); back++) {
      if ((bytes[from + size - back] & 0xc0) != 0x80) {
        return size - back;
      }
    }
    return size;
  }
}
