package org.klatch.exchange.web;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

/** The frame of dynamic pages. */
final class Frame {
  private static final byte[] END = "\n</pre>\n</body></html>\n".getBytes(ISO_8859_1);

  private final byte[] start;

  /**
   * Makes the frame for one request.
   *
   * @param from address of the client
   * @param query must not need quoting in HTML
   */
  Frame(String from, String script, String query) {
    String text =
        "<html>\n<head><title>Klatch web</title></head>\n<body>\n<p>SERVER_SOFTWARE = klatch"
            + "\n<p>REMOTE_ADDR = "
            + from
            + "\n<p>SCRIPT_NAME = "
            + script
            + "\n<p>QUERY_STRING = "
            + query
            + "\n<pre>\n";
    start = text.getBytes(ISO_8859_1);
  }

  /** The page with a file. */
  byte[] around(FileContent file) {
    byte[] page = empty(file.sizeBytes());
    file.put(page, start.length);
    return page;
  }

  /** The page of a command. */
  byte[] around(byte[] output) {
    byte[] page = empty(output.length);
    System.arraycopy(output, 0, page, start.length, output.length);
    return page;
  }

  private byte[] empty(int contentBytes) {
    int endAt = start.length + contentBytes;
    byte[] page = new byte[endAt + END.length];
    System.arraycopy(start, 0, page, 0, start.length);
    System.arraycopy(END, 0, page, endAt, END.length);
    return page;
  }
}
