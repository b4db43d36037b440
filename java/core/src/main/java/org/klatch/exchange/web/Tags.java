package org.klatch.exchange.web;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

/** The tags in files of class 1 and 2 that name an ad. A page with ads replaces each of them. */
final class Tags {
  /** Number of ads in Custom.Ads. */
  static final int ADS = 360;

  /** Length of a tag. */
  static final int BYTES = 62;

  private static final String FORM = "<!WEB99CAD><IMG SRC=\"%s\"><!/WEB99CAD>";
  private static final byte[][] OF_ADS = new byte[ADS][];

  static {
    for (int ad = 0; ad < ADS; ad++) {
      OF_ADS[ad] = FORM.formatted(adFile(ad).path()).getBytes(ISO_8859_1);
    }
  }

  private Tags() {}

  /** The file that an ad is: directory ad / 36, class (ad mod 36) / 9, file ad mod 9. */
  static FileId adFile(int ad) {
    return FileId.at(ad);
  }

  /** Writes the tag that names an ad. */
  static void put(int ad, byte[] into, int at) {
    System.arraycopy(OF_ADS[ad], 0, into, at, BYTES);
  }

  /** A file has one tag in each section of so many bytes; 0 if its class has none. */
  static int sectionBytes(int sizeClass) {
    return switch (sizeClass) {
      case 1 -> 1024;
      case 2 -> 10 * 1024;
      default -> 0;
    };
  }
}
