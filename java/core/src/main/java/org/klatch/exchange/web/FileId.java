package org.klatch.exchange.web;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

/**
 * A file of the site.
 *
 * @param directory number of its directory, from 0
 * @param sizeClass class of its size, from 0 (hundreds of bytes) to 3 (hundreds of KiB)
 * @param number its number in the class, from 0, in the order of the sizes
 */
record FileId(int directory, int sizeClass, int number) {
  static final int DIRECTORIES_MAX = 100_000;
  static final int CLASSES = 4;
  static final int FILES_PER_CLASS = 9;
  static final int FILES_PER_DIRECTORY = CLASSES * FILES_PER_CLASS;

  /** Size of the largest file. */
  static final int BYTES_MAX = 921_600;

  /** Length of every path. */
  static final int PATH_BYTES = 27;

  /** The prefix of all paths. Reset and POST repeat it, because other servers may have another. */
  static final String URL_ROOT = "/file_set/";

  private static final String TEMPLATE = URL_ROOT + "dir00000/class0_0";
  private static final int DIRECTORY_AT = 13;
  private static final int DIRECTORY_DIGITS = 5;
  private static final int CLASS_AT = 24;
  private static final int NUMBER_AT = 26;

  /** Returns null if a part is out of range. */
  static FileId of(long directory, long sizeClass, long number) {
    boolean exists =
        inRange(directory, DIRECTORIES_MAX)
            && inRange(sizeClass, CLASSES)
            && inRange(number, FILES_PER_CLASS);
    return exists ? new FileId((int) directory, (int) sizeClass, (int) number) : null;
  }

  private static boolean inRange(long value, int limit) {
    return value >= 0 && value < limit;
  }

  /** Parses a path of exactly the form {@code /file_set/dirNNNNN/classX_Y}; null for others. */
  static FileId parse(String path) {
    int digitsEnd = DIRECTORY_AT + DIRECTORY_DIGITS;
    boolean matches =
        path.length() == PATH_BYTES
            && path.regionMatches(0, TEMPLATE, 0, DIRECTORY_AT)
            && path.regionMatches(digitsEnd, TEMPLATE, digitsEnd, CLASS_AT - digitsEnd)
            && path.charAt(CLASS_AT + 1) == TEMPLATE.charAt(CLASS_AT + 1);
    if (!matches) {
      return null;
    }
    long directory = Digits.parse(path, DIRECTORY_AT, digitsEnd, DIRECTORIES_MAX);
    return of(directory, path.charAt(CLASS_AT) - '0', path.charAt(NUMBER_AT) - '0');
  }

  /** Position among all files: directories, classes and files ascend. */
  int index() {
    return directory * FILES_PER_DIRECTORY + sizeClass * FILES_PER_CLASS + number;
  }

  /** The file with this {@link #index}; null if there is none. */
  static FileId at(int index) {
    int inDirectory = index % FILES_PER_DIRECTORY;
    return of(
        index / FILES_PER_DIRECTORY, inDirectory / FILES_PER_CLASS, inDirectory % FILES_PER_CLASS);
  }

  /** Its size: 102.4 × 10^class × (number + 1) bytes, rounded down. */
  int sizeBytes() {
    int tenthOfKib = (number + 1) * 1024;
    for (int i = 0; i < sizeClass; i++) {
      tenthOfKib *= 10;
    }
    return tenthOfKib / 10;
  }

  /** The path in a URL. */
  String path() {
    return new String(pathBytes(), ISO_8859_1);
  }

  byte[] pathBytes() {
    byte[] path = TEMPLATE.getBytes(ISO_8859_1);
    int left = directory;
    for (int i = DIRECTORY_DIGITS - 1; i >= 0; i--) {
      path[DIRECTORY_AT + i] += (byte) (left % 10);
      left /= 10;
    }
    path[CLASS_AT] += (byte) sizeClass;
    path[NUMBER_AT] += (byte) number;
    return path;
  }
}
