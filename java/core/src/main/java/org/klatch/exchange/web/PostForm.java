package org.klatch.exchange.web;

import java.util.Arrays;
import java.util.List;

/**
 * The form in the body of a POST.
 *
 * @param file the file that the reply shows
 * @param client number of the line
 */
record PostForm(FileId file, long client) {
  private static final List<String> NAMES = List.of("urlroot", "dir", "class", "num", "client");

  /**
   * Parses a form whose fields are in any order, each of them once.
   *
   * @throws RefusalException if it is malformed
   */
  static PostForm parse(String body) throws RefusalException {
    String[] values = new String[NAMES.size()];
    for (String field : body.split("&", -1)) {
      int equals = field.indexOf('=');
      int name = equals < 0 ? -1 : NAMES.indexOf(field.substring(0, equals));
      if (name < 0 || values[name] != null) {
        throw new RefusalException(Status.BAD_REQUEST);
      }
      values[name] = field.substring(equals + 1);
    }
    if (Arrays.asList(values).contains(null) || !values[0].equals(FileId.URL_ROOT)) {
      throw new RefusalException(Status.BAD_REQUEST);
    }
    FileId file = FileId.of(number(values[1]), number(values[2]), number(values[3]));
    long client = number(values[4]);
    if (file == null || client < 0) {
      throw new RefusalException(Status.BAD_REQUEST);
    }
    return new PostForm(file, client);
  }

  private static long number(String digits) {
    return Digits.parse(digits, Digits.U32_MAX);
  }
}
