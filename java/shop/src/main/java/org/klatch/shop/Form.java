package org.klatch.shop;

import org.klatch.exchange.web.Status;

/** The fields of a form, which are in a given order and without escapes. */
public final class Form {
  private final String[] values;

  /** Parses a form that has exactly these fields. */
  public Form(String body, String... names) throws RefusedException {
    String[] fields = body.split("&", -1);
    values = new String[names.length];
    if (fields.length != names.length) {
      throw malformed(names);
    }
    for (int i = 0; i < names.length; i++) {
      String prefix = names[i] + "=";
      if (!fields[i].startsWith(prefix)) {
        throw malformed(names);
      }
      values[i] = fields[i].substring(prefix.length());
    }
  }

  /** The field at an index. It has no character that JSON would escape. */
  public String text(int index) throws RefusedException {
    String value = values[index];
    boolean isPlain = value.chars().allMatch(c -> c >= ' ' && c <= '~' && c != '"' && c != '\\');
    if (!isPlain || value.length() > 100) {
      throw new RefusedException(Status.BAD_REQUEST, "a field has more than plain text");
    }
    return value;
  }

  /** The number in the field at an index. */
  public long number(int index, long max) throws RefusedException {
    return parse(values[index], max);
  }

  /** Parses a number from 0. */
  public static long parse(String digits, long max) throws RefusedException {
    boolean isNumber = !digits.isEmpty() && digits.length() < 19;
    for (int i = 0; i < digits.length(); i++) {
      isNumber &= digits.charAt(i) >= '0' && digits.charAt(i) <= '9';
    }
    long number = isNumber ? Long.parseLong(digits) : -1;
    if (number < 0 || number > max) {
      throw new RefusedException(Status.BAD_REQUEST, "a number from 0 to " + max + " is needed");
    }
    return number;
  }

  private static RefusedException malformed(String... names) {
    return new RefusedException(
        Status.BAD_REQUEST, "the request must have the fields " + String.join(", ", names));
  }
}
