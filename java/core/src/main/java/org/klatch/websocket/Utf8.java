package org.klatch.websocket;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/** Strict UTF-8: no overlong forms, no surrogates, nothing above U+10FFFF. */
final class Utf8 {
  private static final VarHandle LONGS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
  private static final long HIGH_BITS = 0x8080808080808080L;

  private Utf8() {}

  /** Whether {@code bytes[from, to)} is UTF-8, without half a character at its end. */
  static boolean isValid(byte[] bytes, int from, int to) {
    int at = from;
    while (true) {
      at = skipAscii(bytes, at, to);
      if (at == to) {
        return true;
      }
      int size = characterSize(bytes, at, to);
      if (size == 0) {
        return false;
      }
      at += size;
    }
  }

  /** Returns {@code bytes[from, to)} with a replacement character for what is not UTF-8. */
  static byte[] replaceInvalid(byte[] bytes, int from, int to) {
    return new String(bytes, from, to - from, UTF_8).getBytes(UTF_8);
  }

  private static int skipAscii(byte[] bytes, int from, int to) {
    int at = from;
    while (to - at >= Long.BYTES && ((long) LONGS.get(bytes, at) & HIGH_BITS) == 0) {
      at += Long.BYTES;
    }
    while (at < to && bytes[at] >= 0) {
      at++;
    }
    return at;
  }

  /** Returns the size of the character at {@code at}, which is not ASCII; 0 if it is invalid. */
  private static int characterSize(byte[] bytes, int at, int to) {
    int first = bytes[at] & 0xff;
    int size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4 || to - at < size) {
      return 0;
    }
    // The second byte has a narrower range after these first bytes.
    int second = bytes[at + 1] & 0xff;
    int least = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
    int most = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
    if (second < least || second > most) {
      return 0;
    }
    for (int i = 2; i < size; i++) {
      if ((bytes[at + i] & 0xc0) != 0x80) {
        return 0;
      }
    }
    return size;
  }
}
