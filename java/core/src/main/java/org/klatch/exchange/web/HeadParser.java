package org.klatch.exchange.web;

import java.util.Locale;

/** Parses the head of one request. */
final class HeadParser {
  private static final int HEADERS_MAX = 32;
  private static final String VERSION = "HTTP/1.";
  private static final String ABSOLUTE = "http://";

  private final HeadLines lines;
  private final int start;
  private String method;
  private String path;
  private String query;
  private boolean isOneDotOne;
  private String cookie;
  private long bodyBytes = -1;
  private int hosts;
  private boolean keepAlive;
  private boolean closes;

  private HeadParser(byte[] input, int start, int limit) {
    this.start = start;
    lines = new HeadLines(input, start, limit);
  }

  /**
   * Parses the head at {@code start}.
   *
   * @param end end of the input so far
   * @return null if the head is incomplete
   * @throws RefusalException if the connection must close, because the next request cannot be found
   */
  static RequestHead parse(byte[] input, int start, int end) throws RefusalException {
    int limit = Math.min(end, start + RequestHead.BYTES_MAX);
    RequestHead head = new HeadParser(input, start, limit).parse();
    if (head == null && end - start > RequestHead.BYTES_MAX) {
      throw new RefusalException(Status.HEAD_TOO_LARGE);
    }
    return head;
  }

  private RequestHead parse() throws RefusalException {
    boolean isComplete;
    do {
      isComplete = lines.next();
    } while (isComplete && lines.isEmpty()); // RFC 9112, section 2.2
    if (!isComplete) {
      checkMethod();
      return null;
    }
    requestLine();
    int headers = 0;
    while (lines.next()) {
      if (lines.isEmpty()) {
        return head();
      }
      headers++;
      if (headers > HEADERS_MAX) {
        throw new RefusalException(Status.HEAD_TOO_LARGE);
      }
      header();
    }
    return null;
  }

  /** Refuses a beginning that no further byte can make a request line, such as that of TLS. */
  private int checkMethod() throws RefusalException {
    int methodEnd = lines.tokenEnd();
    boolean isLine = methodEnd > lines.start() && methodEnd < lines.end();
    require(lines.isEmpty() || methodEnd == lines.end() || (isLine && lines.at(methodEnd) == ' '));
    return methodEnd;
  }

  private void requestLine() throws RefusalException {
    int methodEnd = checkMethod();
    int targetAt = methodEnd + 1;
    int versionAt = lines.end() - VERSION.length() - 1;
    require(versionAt - 1 > targetAt && lines.at(versionAt - 1) == ' ');
    for (int at = targetAt; at < versionAt - 1; at++) {
      require(lines.at(at) > ' ' && lines.at(at) != 127);
    }
    String version = lines.text(versionAt, lines.end());
    isOneDotOne = version.equals("HTTP/1.1");
    require(isOneDotOne || version.equals("HTTP/1.0"));
    keepAlive = isOneDotOne;
    method = lines.text(lines.start(), methodEnd);
    if (!Request.isKnown(method)) {
      throw new RefusalException(Status.NOT_IMPLEMENTED);
    }
    target(lines.text(targetAt, versionAt - 1));
  }

  /** Takes path and query, also from the absolute form of requests to a proxy. */
  private void target(String text) {
    String target = text;
    if (text.startsWith(ABSOLUTE)) {
      int slash = text.indexOf('/', ABSOLUTE.length());
      target = slash < 0 ? "/" : text.substring(slash);
    }
    int question = target.indexOf('?');
    path = question < 0 ? target : target.substring(0, question);
    query = question < 0 ? null : target.substring(question + 1);
  }

  private void header() throws RefusalException {
    int nameEnd = lines.tokenEnd();
    require(nameEnd > lines.start() && nameEnd < lines.end() && lines.at(nameEnd) == ':');
    require(lines.isValue(nameEnd + 1));
    if (isNamed("host", nameEnd)) {
      hosts++;
    } else if (isNamed("connection", nameEnd)) {
      connection(value(nameEnd));
    } else if (isNamed("cookie", nameEnd)) {
      cookie = cookie == null ? value(nameEnd) : cookie;
    } else if (isNamed("content-length", nameEnd)) {
      contentLength(value(nameEnd));
    } else if (isNamed("transfer-encoding", nameEnd)) {
      throw new RefusalException(Status.NOT_IMPLEMENTED);
    }
  }

  private boolean isNamed(String lowerCase, int nameEnd) {
    return nameEnd - lines.start() == lowerCase.length() && lines.beginsWith(lowerCase);
  }

  private String value(int nameEnd) {
    return lines.text(nameEnd + 1, lines.end()).strip();
  }

  private void connection(String list) {
    for (String option : list.split(",", -1)) {
      switch (option.strip().toLowerCase(Locale.ROOT)) {
        case "close" -> closes = true;
        case "keep-alive" -> keepAlive = true;
        default -> {} // an option of a proxy
      }
    }
  }

  private void contentLength(String digits) throws RefusalException {
    long value = Digits.parse(digits, Long.MAX_VALUE / 100);
    require(value >= 0 && (bodyBytes < 0 || bodyBytes == value));
    bodyBytes = value;
  }

  private RequestHead head() throws RefusalException {
    require(!isOneDotOne || hosts == 1); // RFC 9112, section 3.2
    if (bodyBytes > Request.BODY_BYTES_MAX) {
      throw new RefusalException(Status.CONTENT_TOO_LARGE);
    }
    int body = (int) Math.max(0, bodyBytes);
    int bytes = lines.nextAt() - start;
    return new RequestHead(method, path, query, cookie, body, keepAlive && !closes, bytes);
  }

  private static void require(boolean condition) throws RefusalException {
    if (!condition) {
      throw new RefusalException(Status.BAD_REQUEST);
    }
  }
}
