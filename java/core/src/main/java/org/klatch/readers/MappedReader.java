package org.klatch.readers;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;

/**
 * Files mapped into memory. A block is copied, so that it is the reader's own as with the system
 * call.
 */
final class MappedReader implements BlockReader {
  /** A buffer has less than 2 GiB. Blocks are powers of two, so none lies in two maps. */
  private static final int MAP_BITS = 30;

  private final MappedByteBuffer[][] maps; // by file, in order of their offsets

  MappedReader(OpenFiles open) throws ReadException {
    maps = new MappedByteBuffer[open.channels().size()][];
    for (int file = 0; file < maps.length; file++) {
      try {
        maps[file] = map(open.channels().get(file), open.bytes());
      } catch (IOException e) {
        throw new ReadException(open.paths().get(file), e);
      }
    }
  }

  private static MappedByteBuffer[] map(FileChannel channel, long bytes) throws IOException {
    long most = 1L << MAP_BITS;
    MappedByteBuffer[] maps = new MappedByteBuffer[(int) ((bytes + most - 1) >> MAP_BITS)];
    for (int i = 0; i < maps.length; i++) {
      long offset = (long) i << MAP_BITS;
      maps[i] = channel.map(FileChannel.MapMode.READ_ONLY, offset, Math.min(most, bytes - offset));
    }
    return maps;
  }

  /**
   * {@inheritDoc}
   *
   * <p>A page beyond the end of its file raises the signal SIGBUS, which the JVM turns into an
   * {@code InternalError}, thrown here or soon after.
   */
  @Override
  public void read(int file, long offset, ByteBuffer block) {
    MappedByteBuffer map = maps[file][(int) (offset >> MAP_BITS)];
    int at = (int) (offset & (1L << MAP_BITS) - 1);
    block.clear();
    block.put(0, map, at, block.capacity());
  }
}
