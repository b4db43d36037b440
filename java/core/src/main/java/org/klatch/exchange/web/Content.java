package org.klatch.exchange.web;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import org.klatch.exchange.SplitMix;

/** The contents of all files for one seed. It has 1.9 MiB, so a program makes one and shares it. */
final class Content {
  private static final int BLOCK_BYTES = 1 << 20;
  private static final int LINE_BYTES = 64;
  private static final byte[] ALPHABET =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 .".getBytes(ISO_8859_1);

  private final long filesSeed;

  /** The block and, after it, as much of its beginning as the largest file has. */
  private final byte[] text = new byte[BLOCK_BYTES + FileId.BYTES_MAX];

  /** Computes the block of text for a seed. */
  Content(long seed) {
    filesSeed = SplitMix.partSeed(seed, SplitMix.FILES);
    long textSeed = SplitMix.partSeed(seed, SplitMix.TEXT);
    for (int word = 0; word < BLOCK_BYTES / Long.BYTES; word++) {
      long letters = SplitMix.output(textSeed, word);
      for (int i = 0; i < Long.BYTES; i++) {
        text[word * Long.BYTES + i] = ALPHABET[(int) (letters >>> (8 * i)) & 63];
      }
    }
    for (int end = LINE_BYTES - 1; end < BLOCK_BYTES; end += LINE_BYTES) {
      text[end] = '\n';
    }
    System.arraycopy(text, 0, text, BLOCK_BYTES, FileId.BYTES_MAX);
  }

  /** Returns the content of one file. It costs little before it is {@link FileContent#put}. */
  FileContent file(FileId file) {
    long key = ((long) file.directory() << 16) | ((long) file.sizeClass() << 8) | file.number();
    long hash = SplitMix.output(filesSeed, key);
    int start = (int) (hash & (BLOCK_BYTES - 1));
    int storedAd = SplitMix.scale(hash >>> 32, Tags.ADS);
    return new FileContent(file, text, start, hash, storedAd);
  }
}
