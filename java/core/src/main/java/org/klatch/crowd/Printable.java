package org.klatch.crowd;

/** Makes text of others safe to print. */
public final class Printable {
  private Printable() {}

  /**
   * Returns the text with a Unicode escape, as JSON has it, in place of each character that
   * controls a terminal, ends a line or changes the direction of text; null for null.
   */
  public static String of(String text) {
    if (text == null || text.codePoints().noneMatch(Printable::controls)) {
      return text;
    }
    StringBuilder printable = new StringBuilder();
    text.codePoints()
        .forEach(
            character -> {
              if (controls(character)) {
                for (char unit : Character.toChars(character)) {
                  printable.append(String.format("\\u%04x", (int) unit));
                }
              } else {
                printable.appendCodePoint(character);
              }
            });
    return printable.toString();
  }

  /** The same characters as in {@code printable.rs}. */
  private static boolean controls(int character) {
    return Character.isISOControl(character)
        || character == 0x61c
        || character == 0x200e
        || character == 0x200f
        || between(character, 0x2028, 0x202e)
        || between(character, 0x2066, 0x206f)
        || between(character, 0xfff9, 0xfffb)
        || between(character, 0xe0000, 0xe007f);
  }

  private static boolean between(int character, int first, int last) {
    return character >= first && character <= last;
  }
}
