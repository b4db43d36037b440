package org.klatch.cli;

import java.util.Map;
import java.util.TreeMap;

/**
 * Reads a JSON object whose values are strings, numbers, booleans and objects of them, as a map
 * from the path of a field, such as {@code server.port}, to its value in text.
 */
final class JsonFields {
  private static final int DEPTH_MAX = 8;

  private final String text;
  private int at;
  private final Map<String, String> fields = new TreeMap<>();

  private JsonFields(String text) {
    this.text = text;
  }

  /** Reads one object, and nothing after it. */
  static Map<String, String> of(String text) throws StartupException {
    JsonFields reader = new JsonFields(text);
    reader.object("", DEPTH_MAX);
    if (reader.peek() != 0) {
      throw reader.wrong("the end");
    }
    return reader.fields;
  }

  private void object(String prefix, int depth) throws StartupException {
    expect('{');
    if (depth == 0) {
      throw wrong("fewer objects within objects");
    }
    boolean isFirst = true;
    while (peek() != '}') {
      if (!isFirst) {
        expect(',');
      }
      isFirst = false;
      String path = prefix + string();
      expect(':');
      if (peek() == '{') {
        object(path + ".", depth - 1);
      } else if (fields.put(path, peek() == '"' ? string() : word()) != null) {
        throw wrong("no second " + path);
      }
    }
    at++;
  }

  /** A number, {@code true} or {@code false}. */
  private String word() throws StartupException {
    int start = at;
    while (at < text.length() && ",}] \t".indexOf(text.charAt(at)) < 0) {
      at++;
    }
    String word = text.substring(start, at);
    if (!word.matches("true|false|-?[0-9][-+.eE0-9]*")) {
      at = start;
      throw wrong("a number, true or false");
    }
    return word;
  }

  private String string() throws StartupException {
    expect('"');
    StringBuilder value = new StringBuilder();
    while (next() != '"') {
      char c = text.charAt(at - 1);
      value.append(c == '\\' ? escaped(next()) : c);
    }
    return value.toString();
  }

  private char escaped(char c) throws StartupException {
    return switch (c) {
      case '"', '\\', '/' -> c;
      case 'b' -> '\b';
      case 'f' -> '\f';
      case 'n' -> '\n';
      case 'r' -> '\r';
      case 't' -> '\t';
      case 'u' -> unit();
      default -> throw wrong("an escape");
    };
  }

  /** The UTF-16 unit of an escape. */
  private char unit() throws StartupException {
    int unit = 0;
    for (int i = 0; i < 4; i++) {
      int digit = Character.digit(next(), 16);
      if (digit < 0) {
        throw wrong("a hexadecimal digit");
      }
      unit = unit << 4 | digit;
    }
    return (char) unit;
  }

  private void expect(char c) throws StartupException {
    if (peek() != c) {
      throw wrong(Character.toString(c));
    }
    at++;
  }

  /** The next character after spaces; NUL at the end. */
  private char peek() {
    while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) {
      at++;
    }
    return at < text.length() ? text.charAt(at) : 0;
  }

  private char next() throws StartupException {
    if (at == text.length()) {
      throw wrong("the rest of a string");
    }
    return text.charAt(at++);
  }

  private StartupException wrong(String expected) {
    return new StartupException(
        "the job on standard input is not understood: character "
            + (at + 1)
            + " must be "
            + expected);
  }
}
