package org.klatch.exchange.web;

/** Decimal numbers in requests. */
final class Digits {
  /** The largest unsigned number of 32 bits. */
  static final long U32_MAX = 0xffff_ffffL;

  private Digits() {}

  /** Parses the whole text; see the other method. */
  static long parse(String text, long max) {
    return parse(text, 0, text.length(), max);
  }

  /**
   * Parses the characters from {@code start} to before {@code end}, all of which must be ASCII
   * digits.
   *
   * @param max far below {@code Long.MAX_VALUE / 10}
   * @return the number, or -1 if there are no digits, other characters, or a larger number
   */
  static long parse(String text, int start, int end, long max) {
    long number = start < end ? 0 : -1;
    for (int i = start; i < end && number >= 0; i++) {
      int digit = text.charAt(i) - '0';
      number = digit >= 0 && digit <= 9 ? number * 10 + digit : -1;
      if (number > max) {
        return -1;
      }
    }
    return number;
  }
}
