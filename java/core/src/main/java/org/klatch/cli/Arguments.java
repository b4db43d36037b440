package org.klatch.cli;

import java.text.DecimalFormat;
import java.text.DecimalFormatSymbols;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * Parses the options of one command: {@code -name value} or {@code -name=value}, with one dash or
 * two. Each method that reads an option also adds its line to the help text.
 */
final class Arguments {
  private final Map<String, String> given = new HashMap<>();
  private final Set<String> declared = new HashSet<>();
  private final StringBuilder help = new StringBuilder();

  /**
   * Parses a command line.
   *
   * @param switches names of the options without a value
   */
  Arguments(List<String> arguments, Set<String> switches) throws StartupException {
    for (int i = 0; i < arguments.size(); i++) {
      String argument = arguments.get(i);
      if (!argument.startsWith("-") || argument.matches("-+")) {
        throw new StartupException.Usage("unexpected argument " + argument);
      }
      String name = argument.replaceFirst("^--?", "");
      int equals = name.indexOf('=');
      if (equals >= 0) {
        put(name.substring(0, equals), name.substring(equals + 1));
      } else if (switches.contains(name)) {
        put(name, "");
      } else if (i + 1 < arguments.size()) {
        i++;
        put(name, arguments.get(i));
      } else {
        put(name, null);
      }
    }
  }

  /** Adds options that do not come from the command line, by name and value. */
  void putAll(Map<String, String> options) throws StartupException {
    for (Map.Entry<String, String> option : options.entrySet()) {
      put(option.getKey(), option.getValue());
    }
  }

  private void put(String name, String value) throws StartupException {
    if (given.containsKey(name)) {
      throw new StartupException.Usage("option -" + name + " is given twice");
    }
    given.put(name, value);
  }

  boolean has(String name) {
    return given.containsKey(name);
  }

  /** Reads an option without a value. */
  boolean flag(String name, String description) throws StartupException {
    declare(name, "", description, "");
    if (given.containsKey(name) && !given.get(name).isEmpty()) {
      throw new StartupException.Usage("option -" + name + " takes no value");
    }
    return given.containsKey(name);
  }

  /** Reads an option with a value; {@code form} is its placeholder in the help. */
  String text(String name, String form, String preset, String description) throws StartupException {
    declare(name, form, description, preset);
    if (!given.containsKey(name)) {
      return preset;
    }
    if (given.get(name) == null) {
      throw new StartupException.Usage("option -" + name + " needs a value: " + form);
    }
    return given.get(name);
  }

  /** Reads an option that is an integer from {@code min} to {@code max}. */
  long number(String name, long min, long max, long preset, String description)
      throws StartupException {
    String text = text(name, "N", Long.toString(preset), description);
    try {
      long number = Long.parseLong(text);
      if (number >= min && number <= max) {
        return number;
      }
    } catch (NumberFormatException e) {
      // reported below, like a number out of range
    }
    throw new StartupException.Usage(name + " must be " + min + " to " + max + ", got " + text);
  }

  /** Reads an option that is an unsigned 64-bit integer. */
  long unsigned(String name, long preset, String description) throws StartupException {
    String text = text(name, "N", Long.toUnsignedString(preset), description);
    try {
      return Long.parseUnsignedLong(text);
    } catch (NumberFormatException e) {
      throw new StartupException.Usage(
          name + " must be 0 to " + Long.toUnsignedString(-1) + ", got " + text);
    }
  }

  /** As {@link #number}, for bounds that are an {@code int}. */
  int integer(String name, int min, int max, int preset, String description)
      throws StartupException {
    return (int) number(name, min, max, preset, description);
  }

  /** Reads an option that is {@code true} or {@code false}. */
  boolean bool(String name, boolean preset, String description) throws StartupException {
    String text = text(name, "true|false", Boolean.toString(preset), description);
    if (!text.equals("true") && !text.equals("false")) {
      throw new StartupException.Usage(name + " must be true or false, got " + text);
    }
    return text.equals("true");
  }

  /** Reads an option that is a decimal number from {@code min} to {@code max}. */
  double decimal(
      String name, double min, double max, String preset, String form, String description)
      throws StartupException {
    String text = text(name, form, preset, description);
    try {
      double number = Double.parseDouble(text);
      if (number >= min && number <= max) {
        return number;
      }
    } catch (NumberFormatException e) {
      // reported below, like a number out of range
    }
    var range = new DecimalFormat("0.###", DecimalFormatSymbols.getInstance(Locale.ROOT));
    String bounds = "from " + range.format(min) + " to " + range.format(max);
    throw new StartupException.Usage(name + " must be a number " + bounds + ", got " + text);
  }

  /** Reads an option in seconds, from {@code min} to one day. Returns ns. */
  long secondsNs(String name, double min, String preset, String description)
      throws StartupException {
    return (long) (decimal(name, min, 86_400, preset, "S", description) * 1e9);
  }

  /** Fails if the command line has an option that no call has read. */
  void finish() throws StartupException {
    for (String name : given.keySet()) {
      if (!declared.contains(name)) {
        throw new StartupException.Usage("unknown option -" + name);
      }
    }
  }

  /** Returns a line of help for each option that was read. */
  String help() {
    return help.toString();
  }

  private void declare(String name, String form, String description, String preset) {
    declared.add(name);
    String end = preset == null || preset.isEmpty() ? "" : " [" + preset + "]";
    help.append(
        String.format("  %-27s %s%s%n", ("-" + name + " " + form).strip(), description, end));
  }
}
