package org.klatch.chat;

/** Names of users and rooms, one character a byte: which are valid, and which are the same. */
public final class Names {
  /** Bytes of the longest nick. */
  public static final int MAX_NICK = 30;

  /** Bytes of the longest channel name, {@code #} included. */
  public static final int MAX_CHANNEL = 50;

  private static final String SPECIAL = "[]\\`_^{|}";

  private Names() {}

  /** Whether {@code name} can be a nick. */
  public static boolean validNick(String name) {
    if (name.isEmpty() || name.length() > MAX_NICK || !nickByte(name.charAt(0), true)) {
      return false;
    }
    return name.chars().allMatch(c -> nickByte(c, false));
  }

  /** Whether {@code name} can be a channel. */
  public static boolean validChannel(String name) {
    if (name.length() < 2 || name.length() > MAX_CHANNEL || name.charAt(0) != '#') {
      return false;
    }
    return name.chars().allMatch(c -> c > ' ' && c != 127 && c != ',' && c != ':');
  }

  /**
   * The form that all spellings of a name share: {@code A-Z [ ] \ ~} fold to {@code a-z { } | ^}.
   */
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
