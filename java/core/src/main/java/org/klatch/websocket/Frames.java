package org.klatch.websocket;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/** Encodes frames: always a whole message or control frame, without extensions. */
public final class Frames {
  /** Largest head: of a masked frame whose length has 64 bits. */
  public static final int MAX_HEAD = 14;

  /** Largest payload of a control frame. */
  static final int MAX_CONTROL = 125;

  static final int CONTINUATION = 0;
  static final int TEXT = 1;
  static final int BINARY = 2;
  static final int CLOSE = 8;
  static final int PING = 9;
  static final int PONG = 10;

  static final int FINAL = 0x80;
  static final int MASKED = 0x80;
  static final int LENGTH_16 = 126;
  static final int LENGTH_64 = 127;

  private static final VarHandle LONGS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private Frames() {}

  /** Encodes a message of a server, {@code bytes[from, to)}. */
  static byte[] message(boolean text, byte[] bytes, int from, int to) {
    return unmasked(text ? TEXT : BINARY, bytes, from, to);
  }

  /** Encodes a server's answer to a ping. */
  static byte[] pong(byte[] bytes, int size) {
    return unmasked(PONG, bytes, 0, size);
  }

  /** Encodes a server's close frame; without a code if it is {@link FrameDecoder#NO_CODE}. */
  static byte[] close(int code) {
    byte[] payload = closePayload(code);
    return unmasked(CLOSE, payload, 0, payload.length);
  }

  private static byte[] unmasked(int opcode, byte[] bytes, int from, int to) {
    byte[] frame = new byte[headSize(to - from, false) + to - from];
    int at = putHead(frame, 0, opcode, to - from, false);
    System.arraycopy(bytes, from, frame, at, to - from);
    return frame;
  }

  /**
   * Puts a message of a client, {@code bytes[from, to)}, at {@code frame[at]}, which has room for
   * {@link #MAX_HEAD} more bytes. Returns the index behind it.
   *
   * @param key masks the payload; a client takes a new one for each frame
   */
  public static int putMessage(
      byte[] frame, int at, boolean text, byte[] bytes, int from, int to, int key) {
    return putMasked(frame, at, text ? TEXT : BINARY, bytes, from, to, key);
  }

  /** Encodes a client's answer to a ping. */
  public static byte[] maskedPong(byte[] bytes, int size, int key) {
    byte[] frame = new byte[headSize(size, true) + size];
    putMasked(frame, 0, PONG, bytes, 0, size, key);
    return frame;
  }

  /** Encodes a client's close frame; without a code if it is {@link FrameDecoder#NO_CODE}. */
  public static byte[] maskedClose(int code, int key) {
    byte[] payload = closePayload(code);
    byte[] frame = new byte[headSize(payload.length, true) + payload.length];
    putMasked(frame, 0, CLOSE, payload, 0, payload.length, key);
    return frame;
  }

  private static int putMasked(
      byte[] frame, int at, int opcode, byte[] bytes, int from, int to, int key) {
    int keyAt = putHead(frame, at, opcode, to - from, true);
    for (int i = 0; i < 4; i++) {
      frame[keyAt + i] = (byte) (key >> (8 * i));
    }
    mask(bytes, from, frame, keyAt + 4, to - from, key);
    return keyAt + 4 + to - from;
  }

  /**
   * Copies {@code count} bytes, masked or unmasked by the key, whose lowest byte applies to the
   * first of them.
   */
  static void mask(byte[] source, int from, byte[] target, int to, int count, int key) {
    long wide = (key & 0xffffffffL) | ((long) key << 32);
    int i = 0;
    for (; count - i >= Long.BYTES; i += Long.BYTES) {
      LONGS.set(target, to + i, (long) LONGS.get(source, from + i) ^ wide);
    }
    for (; i < count; i++) {
      target[to + i] = (byte) (source[from + i] ^ (key >> (8 * (i & 3))));
    }
  }

  private static byte[] closePayload(int code) {
    return code == FrameDecoder.NO_CODE
        ? new byte[0]
        : new byte[] {(byte) (code >> 8), (byte) code};
  }

  private static int headSize(int length, boolean masked) {
    int lengthSize = length < LENGTH_16 ? 0 : length < 1 << 16 ? 2 : 8;
    return 2 + lengthSize + (masked ? 4 : 0);
  }

  /** Puts a head without the masking key. Returns the index behind it. */
  private static int putHead(byte[] frame, int start, int opcode, int length, boolean masked) {
    int at = start;
    int mask = masked ? MASKED : 0;
    frame[at++] = (byte) (FINAL | opcode);
    if (length < LENGTH_16) {
      frame[at++] = (byte) (mask | length);
      return at;
    }
    boolean isShort = length < 1 << 16;
    frame[at++] = (byte) (mask | (isShort ? LENGTH_16 : LENGTH_64));
    for (int shift = isShort ? 8 : 56; shift >= 0; shift -= 8) {
      frame[at++] = (byte) ((long) length >> shift);
    }
    return at;
  }

  /** Decodes the reason of a close frame for users. */
  static String text(byte[] bytes, int from, int to) {
    return new String(bytes, from, to - from, UTF_8);
  }
}
