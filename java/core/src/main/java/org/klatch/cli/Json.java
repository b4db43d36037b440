package org.klatch.cli;

import java.util.List;
import java.util.StringJoiner;
import java.util.function.Function;

/** Builds a JSON object on one line. */
final class Json {
  private final StringJoiner fields = new StringJoiner(",", "{", "}");

  /** Adds a field: null, a string, a number, or another object. */
  Json put(String name, Object value) {
    fields.add(quote(name) + ":" + text(value));
    return this;
  }

  /** Adds an array of {@code items}, each converted by {@code asValue}. */
  <T> Json putAll(String name, List<T> items, Function<T, Object> asValue) {
    StringJoiner array = new StringJoiner(",", "[", "]");
    items.forEach(item -> array.add(text(asValue.apply(item))));
    fields.add(quote(name) + ":" + array);
    return this;
  }

  @Override
  public String toString() {
    return fields.toString();
  }

  private static String text(Object value) {
    return value instanceof String string ? quote(string) : String.valueOf(value);
  }

  private static String quote(String text) {
    StringBuilder quoted = new StringBuilder("\"");
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == '"' || c == '\\') {
        quoted.append('\\').append(c);
      } else if (c < ' ' || c > '~') {
        quoted.append(String.format("\\u%04x", (int) c));
      } else {
        quoted.append(c);
      }
    }
    return quoted.append('"').toString();
  }
}
