package org.klatch.exchange.web;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

/** The lines of a head, one at a time. CR LF or LF ends a line. */
final class HeadLines {
  private static final boolean[] TOKEN = new boolean[128];

  static {
    for (char c = '!'; c < 127; c++) {
      TOKEN[c] = "\"(),/:;<=>?@[\\]{}".indexOf(c) < 0;
    }
  }

  private final byte[] input;
  private final int limit;
  private int start; // of the line
  private int end; // of the line, without CR and LF
  private int next; // the line after it

  /** Begins before the first line. */
  HeadLines(byte[] input, int from, int limit) {
    this.input = input;
    this.limit = limit;
    next = from;
  }

  /** Moves to the next line; false if it is incomplete, which makes its bytes so far the line. */
  boolean next() {
    start = next;
    int at = start;
    while (at < limit && input[at] != '\n') {
      at++;
    }
    end = at;
    if (at == limit) {
      return false;
    }
    next = at + 1;
    if (end > start && input[end - 1] == '\r') {
      end--;
    }
    return true;
  }

  /** Index after the line and its ending. */
  int nextAt() {
    return next;
  }

  int start() {
    return start;
  }

  int end() {
    return end;
  }

  boolean isEmpty() {
    return start == end;
  }

  int at(int index) {
    return input[index] & 0xff;
  }

  /** Index after the token (RFC 9110, section 5.6.2) at the beginning of the line. */
  int tokenEnd() {
    int at = start;
    while (at < end && input[at] >= 0 && TOKEN[input[at]]) {
      at++;
    }
    return at;
  }

  /** Whether the bytes from {@code from} to the end of the line are those of a header's value. */
  boolean isValue(int from) {
    for (int at = from; at < end; at++) {
      int c = at(at);
      if ((c < ' ' && c != '\t') || c == 127) {
        return false;
      }
    }
    return true;
  }

  /** Whether the line begins with a name in lower case, whatever the case of the line. */
  boolean beginsWith(String lowerCase) {
    int length = lowerCase.length();
    if (end - start < length) {
      return false;
    }
    for (int i = 0; i < length; i++) {
      int c = input[start + i];
      if ((c >= 'A' && c <= 'Z' ? c + 32 : c) != lowerCase.charAt(i)) {
        return false;
      }
    }
    return true;
  }

  String text(int from, int to) {
    return new String(input, from, to - from, ISO_8859_1);
  }
}
