package org.klatch.readers;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;

/** One {@code pread} a block, straight into the reader's direct buffer. */
final class ChannelReader implements BlockReader {
  private final OpenFiles open;
  private final FileChannel[] channels;

  ChannelReader(OpenFiles open) {
    this.open = open;
    channels = open.channels().toArray(FileChannel[]::new);
  }

  @Override
  public void read(int file, long offset, ByteBuffer block) throws ReadException {
    block.clear();
    try {
      while (block.hasRemaining()) {
        if (channels[file].read(block, offset + block.position()) < 0) {
          throw new ReadException(open.paths().get(file), "failed to fill whole buffer");
        }
      }
    } catch (ReadException e) {
      throw e;
    } catch (IOException e) {
      throw new ReadException(open.paths().get(file), e);
    }
  }
}
