package org.klatch.exchange.web;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;

/**
 * A reply as a client reads it.
 *
 * @param headers values by name in lower case
 * @param body a character for each byte
 */
public record HttpReply(int status, Map<String, String> headers, String body) {
  /** Reads one reply, whose body is delimited in any of the three ways. */
  public static HttpReply read(InputStream in) throws IOException {
    String first = line(in);
    assertTrue(first.startsWith("HTTP/1."), first);
    Map<String, String> headers = new HashMap<>();
    for (String line = line(in); !line.isEmpty(); line = line(in)) {
      int colon = line.indexOf(':');
      String name = line.substring(0, colon).toLowerCase(Locale.ROOT);
      headers.put(name, line.substring(colon + 1).strip());
    }
    int status = Integer.parseInt(first.substring(9, 12));
    return new HttpReply(status, headers, new String(body(headers, in), ISO_8859_1));
  }

  private static byte[] body(Map<String, String> headers, InputStream in) throws IOException {
    String length = headers.get("content-length");
    if (length != null) {
      byte[] body = in.readNBytes(Integer.parseInt(length));
      assertTrue(body.length == Integer.parseInt(length), "the body ends after " + body.length);
      return body;
    }
    if (!"chunked".equals(headers.get("transfer-encoding"))) {
      return in.readAllBytes();
    }
    ByteArrayOutputStream body = new ByteArrayOutputStream();
    for (int bytes = chunkBytes(in); bytes > 0; bytes = chunkBytes(in)) {
      body.writeBytes(in.readNBytes(bytes));
      line(in);
    }
    line(in);
    return body.toByteArray();
  }

  private static int chunkBytes(InputStream in) throws IOException {
    return Integer.parseInt(line(in).replaceFirst(";.*", ""), 16);
  }

  private static String line(InputStream in) throws IOException {
    StringBuilder line = new StringBuilder();
    int c;
    while ((c = in.read()) != '\n') {
      assertTrue(c >= 0, "the connection ended after: " + line);
      line.append((char) c);
    }
    return line.toString().stripTrailing();
  }

  /** The part of a dynamic page within its frame. */
  public String inFrame() {
    int start = body.indexOf("\n<pre>\n") + "\n<pre>\n".length();
    return body.substring(start, body.length() - "\n</pre>\n</body></html>\n".length());
  }
}
