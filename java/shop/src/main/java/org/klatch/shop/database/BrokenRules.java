package org.klatch.shop.database;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The rules that an audit finds broken, with examples. */
public final class BrokenRules {
  private static final int EXAMPLES_MAX = 20;

  private final Map<String, Rule> rules = new TreeMap<>();

  private static final class Rule {
    private final List<String> examples = new ArrayList<>();
    private long count;
  }

  /** Counts a place where a rule is broken. */
  public void add(String name, String example) {
    Rule rule = rules.computeIfAbsent(name, unused -> new Rule());
    rule.count++;
    if (rule.examples.size() < EXAMPLES_MAX) {
      rule.examples.add(example);
    }
  }

  /** Appends them as a JSON array. No text has a character that JSON escapes. */
  public void append(StringBuilder json) {
    String separator = "[";
    for (Map.Entry<String, Rule> one : rules.entrySet()) {
      json.append(separator).append("{\"rule\":\"").append(one.getKey());
      json.append("\",\"count\":").append(one.getValue().count).append(",\"examples\":[\"");
      json.append(String.join("\",\"", one.getValue().examples)).append("\"]}");
      separator = ",";
    }
    json.append(rules.isEmpty() ? "[]" : "]");
  }

  /** The 16 hexadecimal digits of a digest. */
  public static String hex(long digest) {
    return "%016x".formatted(digest);
  }
}
