package org.klatch.chat;

import java.nio.charset.StandardCharsets;

/**
 * One IRC line, parsed in place: indices into the received bytes, without a copy.
 *
 * <p>An instance is reused for every line of a connection and belongs to one thread.
 */
public final class Line {
  /** Most parameters of a line; the last one takes the rest of the line. */
  public static final int MAX_PARAMS = 15;

  private byte[] bytes = new byte[0];
  private int prefixStart;
  private int prefixEnd;
  private int commandStart;
  private int commandEnd;
  private int params;
  private final int[] paramStart = new int[MAX_PARAMS];
  private final int[] paramEnd = new int[MAX_PARAMS];

  /**
   * Parses {@code from[start, end)}, a line without its ending.
   *
   * @return false if the line has no command
   */
  public boolean parse(byte[] from, int start, int end) {
    bytes = from;
    params = 0;
    int at = skipSpaces(start, end);
    prefixStart = prefixEnd = at;
    if (at < end && from[at] == ':') {
      prefixStart = at + 1;
      prefixEnd = wordEnd(at, end);
      at = skipSpaces(prefixEnd, end);
    }
    commandStart = at;
    commandEnd = at = wordEnd(at, end);
    while (true) {
      at = skipSpaces(at, end);
      if (at == end) {
        break;
      }
      if (from[at] == ':' || params == MAX_PARAMS - 1) {
        addParam(from[at] == ':' ? at + 1 : at, end);
        break;
      }
      int wordEnd = wordEnd(at, end);
      addParam(at, wordEnd);
      at = wordEnd;
    }
    return commandEnd > commandStart;
  }

  /** Index of the first byte of the prefix, after its colon. */
  public int prefixStart() {
    return prefixStart;
  }

  /** Index after the last byte of the prefix; {@link #prefixStart()} if there is none. */
  public int prefixEnd() {
    return prefixEnd;
  }

  /** Returns the command, in the case in which it was received. */
  public String command() {
    return string(commandStart, commandEnd);
  }

  /** Whether the command equals {@code name}, which is upper case; ignores case. */
  public boolean is(byte[] name) {
    if (commandEnd - commandStart != name.length) {
      return false;
    }
    for (int i = 0; i < name.length; i++) {
      int b = bytes[commandStart + i];
      if (b != name[i] && (b & ~0x20) != name[i]) {
        return false;
      }
    }
    return true;
  }

  /** Number of parameters, at most {@link #MAX_PARAMS}. */
  public int params() {
    return params;
  }

  /** Parameter {@code i}, from 0, as ISO 8859-1; empty if there are fewer. */
  public String param(int i) {
    return i < params ? string(paramStart[i], paramEnd[i]) : "";
  }

  /** The array that {@link #paramStart} and {@link #paramEnd} index. */
  public byte[] bytes() {
    return bytes;
  }

  /** Index of the first byte of parameter {@code i}. */
  public int paramStart(int i) {
    return paramStart[i];
  }

  /** Index after the last byte of parameter {@code i}. */
  public int paramEnd(int i) {
    return paramEnd[i];
  }

  private void addParam(int start, int end) {
    paramStart[params] = start;
    paramEnd[params] = end;
    params++;
  }

  private int skipSpaces(int at, int end) {
    while (at < end && bytes[at] == ' ') {
      at++;
    }
    return at;
  }

  private int wordEnd(int at, int end) {
    while (at < end && bytes[at] != ' ') {
      at++;
    }
    return at;
  }

  private String string(int start, int end) {
    return new String(bytes, start, end - start, StandardCharsets.ISO_8859_1);
  }
}
