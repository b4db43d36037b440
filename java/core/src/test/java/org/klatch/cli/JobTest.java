package org.klatch.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.klatch.chat.Vectors;

/** A job says the same as the options that a person would give. */
class JobTest {
  @Test
  void everySettingOfAJobIsThatOfItsOptions() throws StartupException {
    int checked = 0;
    for (JsonNode vector : Vectors.json("jobs.json")) {
      List<String> words = new ArrayList<>();
      vector.get("options").forEach(word -> words.add(word.asText()));
      String job = vector.get("job").toString();
      if (words.contains("--churn")) {
        var error = assertThrows(StartupException.class, () -> Job.options(job));
        assertTrue(error.getMessage().endsWith("workload.churn_per_user_per_s"));
        continue;
      }
      Map<String, String> expected = named(words);
      expected.putIfAbsent("workload", "chat");
      // A job does not name it.
      expected.remove("arrivals", "even");
      if (expected.getOrDefault("transport", "plain").startsWith("w")) {
        expected.putIfAbsent("path", "/");
      }
      assertEquals(expected, normal(Job.options(job)), job);
      checked++;
    }
    assertTrue(checked > 20, "vectors: " + checked);
  }

  private static Map<String, String> named(List<String> words) {
    Map<String, String> options = new TreeMap<>();
    for (int i = 0; i < words.size(); i++) {
      boolean hasValue = i + 1 < words.size() && !words.get(i + 1).startsWith("--");
      options.put(words.get(i).substring(2), hasValue ? words.get(i + 1) : "");
      i += hasValue ? 1 : 0;
    }
    return normal(options);
  }

  /** The same with equal text for equal numbers. */
  private static Map<String, String> normal(Map<String, String> options) {
    Map<String, String> normal = new TreeMap<>();
    options.forEach((name, value) -> normal.put(name, normal(value)));
    return normal;
  }

  private static String normal(String value) {
    try {
      return new BigDecimal(value).stripTrailingZeros().toPlainString();
    } catch (NumberFormatException e) {
      return value;
    }
  }

  @Test
  void stringsHaveAllEscapes() throws StartupException {
    String line = "{ \"a\" : {\"b\": \"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00b5µ\"}, \"c\":-1.5e3}";
    assertEquals(Map.of("a.b", "\"\\/\b\f\n\r\tµµ", "c", "-1.5e3"), JsonFields.of(line));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '~',
      textBlock =
          """
          {                     | 2
          {}}                   | 3
          {"a":1,}              | 8
          {"a":1 "b":2}         | 8
          {"a":yes}             | 6
          {"a":"\\x"}         | 9
          {"a":"b}              | 9
          {"a":1,"a":2}         | 13
          """)
  void textThatIsNoJobIsRejectedWithItsPlace(String line, int place) {
    var error = assertThrows(StartupException.class, () -> JsonFields.of(line));
    assertTrue(
        error.getMessage().contains(": character " + place + " must be"), error.getMessage());
  }
}
