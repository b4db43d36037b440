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
 * The options of one command: {@code -name value}, {@code --name value} or {@code --name=value},
 * with one dash or two. Declaring an option reads it and makes its line of help.
 */
final class Arguments {
  private final Map<String, String> given = new HashMap<>();
  private final Set<String> known = new HashSet<>();
  private final StringBuilder help = new StringBuilder();

  /**
   * Takes a command line apart.
   *
   * @param switches names of the options that take no value
   */
  Arguments(List<String> arguments, Set<String> switches) throws Trouble {
    for (int i = 0; i < arguments.size(); i++) {
      String argument = arguments.get(i);
      if (!argument.startsWith("-") || argument.matches("-+")) {
        throw new Trouble.Usage("unexpected argument " + argument);
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

  private void put(String name, String value) throws Trouble {
    if (given.containsKey(name)) {
      throw new Trouble.Usage("option -" + name + " is given twice");
    }
    given.put(name, value);
  }

  boolean has(String name) {
    return given.containsKey(name);
  }

  /** A switch. */
  boolean flag(String name, String what) throws Trouble {
    declare(name, "", what, "");
    if (given.containsKey(name) && !given.get(name).isEmpty()) {
      throw new Trouble.Usage("option -" + name + " takes no value");
    }
    return given.containsKey(name);
  }

  /** An option with a value. */
  String text(String name, String form, String preset, String what) throws Trouble {
    declare(name, form, what, preset);
    if (!given.containsKey(name)) {
      return preset;
    }
    if (given.get(name) == null) {
      throw new Trouble.Usage("option -" + name + " needs a value: " + form);
    }
    return given.get(name);
  }

  /** An option that is a whole number from {@code min} to {@code max}. */
  long number(String name, long min, long max, long preset, String what) throws Trouble {
    String text = text(name, "N", Long.toString(preset), what);
    try {
      long number = Long.parseLong(text);
      if (number >= min && number <= max) {
        return number;
      }
    } catch (NumberFormatException e) {
      // told below, as what is out of range
    }
    throw new Trouble.Usage(name + " must be " + min + "..=" + max + ", got " + text);
  }

  /** An option that is a whole number of 64 bits without a sign. */
  long unsigned(String name, long preset, String what) throws Trouble {
    String text = text(name, "N", Long.toUnsignedString(preset), what);
    try {
      return Long.parseUnsignedLong(text);
    } catch (NumberFormatException e) {
      throw new Trouble.Usage(name + " must be 0..=" + Long.toUnsignedString(-1) + ", got " + text);
    }
  }

  /** As {@link #number}, for bounds that are an {@code int}. */
  int integer(String name, int min, int max, int preset, String what) throws Trouble {
    return (int) number(name, min, max, preset, what);
  }

  /** An option that is {@code true} or {@code false}. */
  boolean truth(String name, boolean preset, String what) throws Trouble {
    String text = text(name, "true|false", Boolean.toString(preset), what);
    if (!text.equals("true") && !text.equals("false")) {
      throw new Trouble.Usage(name + " must be true or false, got " + text);
    }
    return text.equals("true");
  }

  /** An option that is a number from {@code min} to {@code max}. */
  double decimal(String name, double min, double max, String preset, String form, String what)
      throws Trouble {
    String text = text(name, form, preset, what);
    try {
      double number = Double.parseDouble(text);
      if (number >= min && number <= max) {
        return number;
      }
    } catch (NumberFormatException e) {
      // told below, as what is out of range
    }
    var range = new DecimalFormat("0.#", DecimalFormatSymbols.getInstance(Locale.ROOT));
    String bounds = "from " + range.format(min) + " to " + range.format(max);
    throw new Trouble.Usage(name + " must be a number " + bounds + ", got " + text);
  }

  /** Fails if anything was given that no call above has asked for. */
  void finish() throws Trouble {
    for (String name : given.keySet()) {
      if (!known.contains(name)) {
        throw new Trouble.Usage("unknown option -" + name);
      }
    }
  }

  /** One line for each option that was declared. */
  String help() {
    return help.toString();
  }

  private void declare(String name, String form, String what, String preset) {
    known.add(name);
    String end = preset == null || preset.isEmpty() ? "" : " [" + preset + "]";
    help.append(String.format("  %-27s %s%s%n", ("-" + name + " " + form).strip(), what, end));
  }
}
