package org.klatch.readers;

/** The ways to read a block. */
public enum ReadModel {
  /** One positional read of a {@code FileChannel}. */
  CHANNEL,
  /** A copy from a file that is mapped into memory. */
  MAPPED;

  /** Makes open files ready to be read in this way. */
  BlockReader over(OpenFiles open) throws ReadException {
    return switch (this) {
      case CHANNEL -> new ChannelReader(open);
      case MAPPED -> new MappedReader(open);
    };
  }
}
