package org.klatch.chat;

import java.nio.charset.StandardCharsets;

/** Encodes the lines that a server sends: at most 512 bytes, never cut inside a UTF-8 character. */
final class LineEncoder {
  private static final int MAX_CONTENT = Framer.MAX_LINE - 2;

  private LineEncoder() {}

  /** Encodes {@code text} as ISO 8859-1. */
  static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.ISO_8859_1);
  }

  /** Encodes {@code text} as a line with CR LF, truncated if it is too long. */
  static byte[] encode(String text) {
    byte[] bytes = bytes(text);
    return encode(bytes, 0, bytes.length, new byte[0]);
  }

  /**
   * Encodes {@code heads}, one after the other, and {@code tail[from, to)} as a line with CR LF. A
   * tail that is too long is truncated.
   */
  static byte[] encode(byte[] tail, int from, int to, byte[]... heads) {
    int headSize = 0;
    for (byte[] head : heads) {
      headSize += head.length;
    }
    int tailSize = truncatedSize(tail, from, to, MAX_CONTENT - headSize);
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

  /** Returns the longest start of {@code text} that fits into {@code size} bytes. */
  static String truncate(String text, int size) {
    byte[] bytes = bytes(text);
    return text.substring(0, truncatedSize(bytes, 0, bytes.length, size));
  }

  private static int truncatedSize(byte[] bytes, int from, int to, int size) {
    if (to - from <= size) {
      return to - from;
    }
    // A character has at most three continuation bytes. More are not UTF-8, and any cut will do.
    for (int back = 0; back <= Math.min(3, size); back++) {
      if ((bytes[from + size - back] & 0xc0) != 0x80) {
        return size - back;
      }
    }
    return size;
  }
}
