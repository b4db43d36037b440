package org.klatch.exchange.web;

import org.klatch.exchange.SplitMix;

/** The content of one file, in which the tags can name another ad than the stored one. */
final class FileContent {
  /** A tag begins at least so many bytes after its section, and so after the identity line. */
  private static final int TAG_OFFSET_MIN = 64;

  private static final int HASH_DIGITS = 16;
  private static final byte[] HEX = {
    '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'
  };

  private final FileId file;
  private final byte[] text;
  private final int start;
  private final long hash;
  private final int sectionBytes;
  private final int ad;

  /**
   * Describes the content of a file.
   *
   * @param text the text of all files, of which this one begins at {@code start}
   * @param ad the ad that its tags name
   */
  FileContent(FileId file, byte[] text, int start, long hash, int ad) {
    this.file = file;
    this.text = text;
    this.start = start;
    this.hash = hash;
    this.ad = ad;
    sectionBytes = Tags.sectionBytes(file.sizeClass());
  }

  /** The same file with another ad in every tag. It has the same size. */
  FileContent rotated(int otherAd) {
    return new FileContent(file, text, start, hash, otherAd);
  }

  int sizeBytes() {
    return file.sizeBytes();
  }

  /** Writes all bytes of the file. */
  void put(byte[] into, int at) {
    System.arraycopy(text, start, into, at, file.sizeBytes());
    putIdentity(into, at);
    for (int section = 0; tagOffset(section) >= 0; section++) {
      Tags.put(ad, into, at + tagOffset(section));
    }
  }

  /** The offset in the file of the tag in a section, from 0; -1 if there is no such tag. */
  int tagOffset(int section) {
    if (sectionBytes == 0 || section >= file.sizeBytes() / sectionBytes) {
      return -1;
    }
    int room = sectionBytes - TAG_OFFSET_MIN - Tags.BYTES;
    long bits = SplitMix.output(hash, section) >>> 32;
    return section * sectionBytes + TAG_OFFSET_MIN + SplitMix.scale(bits, room);
  }

  /** Writes the first line: path, space, hash. Files that share their text differ in it. */
  private void putIdentity(byte[] into, int at) {
    System.arraycopy(file.pathBytes(), 0, into, at, FileId.PATH_BYTES);
    int next = at + FileId.PATH_BYTES;
    into[next++] = ' ';
    for (int digit = HASH_DIGITS - 1; digit >= 0; digit--) {
      into[next++] = HEX[(int) (hash >>> (4 * digit)) & 15];
    }
    into[next] = '\n';
  }
}
