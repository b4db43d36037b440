package org.klatch.readers;

import java.nio.ByteBuffer;

/** A way to read blocks of the files of one reader. Belongs to its thread. */
interface BlockReader {
  /**
   * Fills {@code block}, from 0 to its capacity, with the bytes at {@code offset} of a file.
   *
   * @param block a direct buffer
   */
  void read(int file, long offset, ByteBuffer block) throws ReadException;
}
