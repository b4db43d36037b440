package org.klatch.exchange.web;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What a request asks for. */
sealed interface Target {
  /** The path of dynamic pages, of POST and of the commands. */
  String DYNAMIC = "/dynamic";

  /** The path of pages through the Common Gateway Interface. */
  String CGI = "/cgi";

  /** A file as it is. */
  record File(FileId file) implements Target {}

  /**
   * A dynamic page with a file.
   *
   * @param script {@link #DYNAMIC} or {@link #CGI}
   */
  record Page(String script, FileId file) implements Target {}

  /** The dynamic path without a query, to which a POST goes. */
  record Form() implements Target {}

  /** The command that makes new tables and empties the post log. */
  record Reset(TableOptions options) implements Target {}

  /** The command that returns the post log. */
  record Fetch() implements Target {}

  /**
   * Parses path and query; returns null for a target that the site does not have.
   *
   * @param query null without one
   */
  static Target parse(String path, String query) {
    if (query == null) {
      return path.equals(DYNAMIC) ? new Form() : fileTarget(FileId.parse(path));
    }
    if (path.equals(CGI)) {
      return pageTarget(CGI, FileId.parse(query));
    }
    if (!path.equals(DYNAMIC)) {
      return null;
    }
    if (query.startsWith(Command.PREFIX)) {
      return Command.parse(query);
    }
    return pageTarget(DYNAMIC, FileId.parse(query));
  }

  private static Target fileTarget(FileId file) {
    return file == null ? null : new File(file);
  }

  private static Target pageTarget(String script, FileId file) {
    return file == null ? null : new Page(script, file);
  }

  /** The commands of a crowd. */
  final class Command {
    private static final String PREFIX = "command/";
    private static final long SECONDS_MAX = 9_999_999_999L;
    private static final Pattern RESET =
        Pattern.compile(
            PREFIX
                + "Reset&maxload=(\\d+)&pttime=(-?\\d+)&maxthread=(\\d+)"
                + "&exp=(-?\\d+),(-?\\d+)&urlroot="
                + Pattern.quote(FileId.URL_ROOT));

    private Command() {}

    private static Target parse(String query) {
      if (query.equals(PREFIX + "Fetch")) {
        return new Fetch();
      }
      Matcher reset = RESET.matcher(query);
      TableOptions options = reset.matches() ? options(reset) : null;
      return options == null ? null : new Reset(options);
    }

    /** Returns null if a value is too large for the tables. */
    private static TableOptions options(Matcher reset) {
      long load = Digits.parse(reset.group(1), TableOptions.USERS_MAX);
      long threads = Digits.parse(reset.group(3), TableOptions.USERS_MAX);
      Long nowS = seconds(reset.group(2));
      Long earlyS = seconds(reset.group(4));
      Long lateS = seconds(reset.group(5));
      if (load < 0 || threads < 0 || nowS == null || earlyS == null || lateS == null) {
        return null;
      }
      int users = (int) Math.min(load * threads, Integer.MAX_VALUE);
      TableOptions options = new TableOptions(users, nowS, earlyS, lateS);
      return options.fit() ? options : null;
    }

    /** Parses a number with an optional minus sign; null if it is too large. */
    private static Long seconds(String text) {
      boolean isNegative = text.startsWith("-");
      long digits = Digits.parse(text, isNegative ? 1 : 0, text.length(), SECONDS_MAX);
      if (digits < 0) {
        return null;
      }
      return isNegative ? -digits : digits;
    }
  }
}
