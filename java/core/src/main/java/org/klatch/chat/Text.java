package org.klatch.chat;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * The text of a crowd's message: a header with user, sequence number and time, and a filler that is
 * computed from the header.
 *
 * <p>An instance reads texts and stores the header of the last one; it belongs to one thread. The
 * format is defined in docs/reference/protocol.md.
 */
public final class Text {
  /** Bytes of the header, and so of the smallest text. */
  public static final int MIN_SIZE = 36;

  /** Bytes of the largest text; a line with it still fits into 512 bytes. */
  public static final int MAX_SIZE = 400;

  private static final int TIME_AT = 14;
  private static final int CHECK_AT = 27;
  private static final int PATTERN_MASK = 1023;
  private static final byte[] HEX = "0123456789abcdef".getBytes(StandardCharsets.US_ASCII);
  private static final byte[] DIGIT_OF = digits();
  private static final byte[] PATTERN = pattern();

  private int user;
  private long sequence;
  private long timeNs;

  /**
   * Writes a text.
   *
   * @param to receives the text, from {@code at} on
   * @param size bytes of the text, {@link #MIN_SIZE} to {@link #MAX_SIZE}
   * @param sequence number of the user's message, unsigned 32 bits
   * @param timeNs intended send time, ns since the crowd's start, 48 bits
   */
  public static void write(
      byte[] to, int at, int size, int room, int user, long sequence, long timeNs) {
    long check = check(room, user, sequence, timeNs);
    hex(to, at, 4, user);
    hex(to, at + 5, 8, sequence);
    hex(to, at + TIME_AT, 12, timeNs);
    hex(to, at + CHECK_AT, 8, check);
    System.arraycopy(PATTERN, (int) check & PATTERN_MASK, to, at + MIN_SIZE, size - MIN_SIZE);
  }

  /**
   * Reads the text in {@code from[at, end)}, received in {@code room}.
   *
   * @return whether checksum and filler match the header
   */
  public boolean read(byte[] from, int at, int end, int room) {
    int size = end - at;
    if (size < MIN_SIZE || size > MAX_SIZE) {
      return false;
    }
    user = (int) unhex(from, at, 4);
    sequence = unhex(from, at + 5, 8);
    timeNs = unhex(from, at + TIME_AT, 12);
    long check = unhex(from, at + CHECK_AT, 8);
    if ((user | sequence | timeNs | check) < 0 || check != check(room, user, sequence, timeNs)) {
      return false;
    }
    int fill = (int) check & PATTERN_MASK;
    return Arrays.equals(from, at + MIN_SIZE, end, PATTERN, fill, fill + size - MIN_SIZE);
  }

  /** The sender's user number; valid if the last {@link #read} returned true. */
  public int user() {
    return user;
  }

  /** The sequence number; valid if the last {@link #read} returned true. */
  public long sequence() {
    return sequence;
  }

  /** Intended send time, ns since the crowd's start; valid if the last {@link #read} was true. */
  public long timeNs() {
    return timeNs;
  }

  /** The SplitMix64 finaliser: every bit of {@code z} affects all 64 of the result. */
  public static long mix(long z) {
    z ^= z >>> 30;
    z *= 0xbf58476d1ce4e5b9L;
    z ^= z >>> 27;
    z *= 0x94d049bb133111ebL;
    return z ^ (z >>> 31);
  }

  private static long check(int room, int user, long sequence, long timeNs) {
    return mix(mix(((long) room << 48) | ((long) user << 32) | sequence) ^ timeNs) >>> 32;
  }

  /** Writes a field: hexadecimal digits and the space that ends it. */
  private static void hex(byte[] to, int at, int digits, long value) {
    for (int i = digits - 1; i >= 0; i--) {
      to[at + i] = HEX[(int) value & 15];
      value >>>= 4;
    }
    to[at + digits] = ' ';
  }

  /** Reads a field of lower-case hex digits and a space; negative if it is malformed. */
  private static long unhex(byte[] from, int at, int digits) {
    long value = 0;
    int wrong = from[at + digits] ^ ' ';
    for (int i = 0; i < digits; i++) {
      int digit = DIGIT_OF[from[at + i] & 0xff];
      wrong |= digit & 0x80;
      value = value << 4 | digit;
    }
    return wrong == 0 ? value : -1;
  }

  private static byte[] digits() {
    byte[] digits = new byte[256];
    Arrays.fill(digits, (byte) -1);
    for (int i = 0; i < HEX.length; i++) {
      digits[HEX[i]] = (byte) i;
    }
    return digits;
  }

  private static byte[] pattern() {
    byte[] letters =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
            .getBytes(StandardCharsets.US_ASCII);
    byte[] pattern = new byte[PATTERN_MASK + 1 + MAX_SIZE];
    for (int i = 0; i < pattern.length; i++) {
      pattern[i] = letters[(int) mix(i) & 63];
    }
    return pattern;
  }
}
