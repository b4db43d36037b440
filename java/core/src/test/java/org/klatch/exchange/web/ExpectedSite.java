package org.klatch.exchange.web;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

/** What the replies of a site must contain, for tests of whole servers. */
public final class ExpectedSite {
  private final Content content;
  private final AdTables tables;

  /** Computes the contents of a site that has got no Reset. */
  public ExpectedSite(long seed) {
    content = new Content(seed);
    tables = new AdTables(seed, TableOptions.INITIAL);
  }

  /** A file as it is. */
  public String file(String path) {
    return text(content.file(FileId.parse(path)));
  }

  /** A file whose tags name the ad for a user. */
  public String fileWithAds(String path, long user, int lastAd) {
    AdChoice choice = tables.choose(user, lastAd);
    return text(content.file(FileId.parse(path)).rotated(choice.ad()));
  }

  /** The cookie of a page with ads. */
  public String adCookie(long user, int lastAd) {
    return tables.choose(user, lastAd).cookie();
  }

  private static String text(FileContent file) {
    byte[] bytes = new byte[file.sizeBytes()];
    file.put(bytes, 0);
    return new String(bytes, ISO_8859_1);
  }

  /** The frame of a page before its file. */
  public static String frame(String from, String script, String query) {
    return String.join(
        "\n",
        "<html>",
        "<head><title>Klatch web</title></head>",
        "<body>",
        "<p>SERVER_SOFTWARE = klatch",
        "<p>REMOTE_ADDR = " + from,
        "<p>SCRIPT_NAME = " + script,
        "<p>QUERY_STRING = " + query,
        "<pre>",
        "");
  }
}
