package org.klatch.websocket;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The head of a request or response.
 *
 * @param startLine its first line
 * @param fields values of each field, by its name in lower case
 */
record HttpHead(String startLine, Map<String, List<String>> fields) {
  private static final Pattern FIELD =
      Pattern.compile("([!#$%&'*+.^_`|~0-9A-Za-z-]+):([^\\x00-\\x08\\x0a-\\x1f\\x7f]*)");

  /** Parses a head without its empty line; null if a line has an invalid form. */
  static HttpHead parse(String head) {
    String[] lines = head.split("\r\n", -1);
    Map<String, List<String>> fields = new HashMap<>();
    for (int i = 1; i < lines.length; i++) {
      Matcher field = FIELD.matcher(lines[i]);
      if (!field.matches()) {
        return null;
      }
      String name = field.group(1).toLowerCase(Locale.ROOT);
      fields.computeIfAbsent(name, key -> new ArrayList<>()).add(field.group(2).strip());
    }
    return new HttpHead(lines[0], fields);
  }

  boolean has(String name) {
    return fields.containsKey(name);
  }

  /** Returns the value of a field that occurs exactly once, else null. */
  String single(String name) {
    List<String> values = fields.getOrDefault(name, List.of());
    return values.size() == 1 ? values.get(0) : null;
  }

  /** Splits the values of a field at commas. */
  List<String> list(String name) {
    return fields.getOrDefault(name, List.of()).stream()
        .flatMap(value -> Stream.of(value.split(",", -1)))
        .map(String::strip)
        .filter(part -> !part.isEmpty())
        .toList();
  }

  /** Whether the list in a field contains {@code token}, in any case. */
  boolean hasToken(String name, String token) {
    return list(name).stream().anyMatch(token::equalsIgnoreCase);
  }
}
