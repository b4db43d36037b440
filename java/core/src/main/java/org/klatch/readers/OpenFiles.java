package org.klatch.readers;

import java.io.Closeable;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.klatch.exchange.files.Pages;

/**
 * The files of one reader, open for reading. Each reader has its own, as processes would.
 *
 * @param paths by number of the file
 * @param channels by number of the file
 * @param bytes the size of each
 */
record OpenFiles(List<Path> paths, List<FileChannel> channels, long bytes) implements Closeable {
  /** Opens the files of a workload, which must have their size. */
  static OpenFiles open(Options options) throws ReadException {
    List<Path> paths = new ArrayList<>();
    List<FileChannel> channels = new ArrayList<>();
    for (int file = 0; file < options.files(); file++) {
      Path path = options.folder().resolve(Pages.fileName(file));
      paths.add(path);
      channels.add(open(path, options.fileBytes()));
    }
    return new OpenFiles(paths, channels, options.fileBytes());
  }

  private static FileChannel open(Path path, long bytes) throws ReadException {
    try {
      FileChannel channel = FileChannel.open(path);
      long actual = channel.size();
      if (actual != bytes) {
        channel.close();
        throw new ReadException(path, "it has " + actual + " bytes, and must have " + bytes);
      }
      return channel;
    } catch (ReadException e) {
      throw e;
    } catch (IOException e) {
      throw new ReadException(path, e);
    }
  }

  @Override
  public void close() throws IOException {
    for (FileChannel channel : channels) {
      channel.close();
    }
  }
}
