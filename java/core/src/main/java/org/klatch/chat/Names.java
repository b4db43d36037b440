package org.klatch.chat;

/** Rules for the names of users and rooms, decoded as ISO 8859-1: validity and case folding. */
public final class Names {
  /** Longest nick, in bytes. */
  public static final int MAX_NICK = 30;

  /** Longest channel name in bytes, {@code #} included. */
  public static final int MAX_CHANNEL = 50;

  private static final String SPECIAL = "[]\\`_^{|}";

  private Names() {}

  /** Whether {@code name} is a valid nick: see "Names" in vectors/README.md. */
  public static boolean validNick(String name) {
    if (name.isEmpty() || name.length() > MAX_NICK || !nickByte(name.charAt(0), true)) {
      return false;
    }
    return name.chars().allMatch(c -> nickByte(c, false));
  }

  /** Whether {@code name} is a valid channel: see "Names" in vectors/README.md. */
  public static boolean validChannel(String name) {
    if (name.length() < 2 || name.length() > MAX_CHANNEL || name.charAt(0) != '#') {
      return false;
    }
    return name.chars().allMatch(c -> c > ' ' && c != 127 && c != ',' && c != ':');
  }

  /** Folds the case of a name as in RFC 1459: {@code A-Z [ ] \ ~} become {@code a-z { } | ^}. */
  public static String fold(String name) {
    StringBuilder folded = new StringBuilder(name.length());
    for (int i = 0; i < name.length(); i++) {
      char c = name.charAt(i);
      if (c >= 'A' && c <= ']') {
        c = (char) (c + 'a' - 'A');
      } else if (c == '~') {
        c = '^';
      }
      folded.append(c);
    }
    return folded.toString();
  }

  private static boolean nickByte(int c, boolean first) {
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || SPECIAL.indexOf(c) >= 0) {
      return true;
    }
    return !first && ((c >= '0' && c <= '9') || c == '-');
  }
}
