package org.klatch.readers;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.ThreadFactory;
import org.klatch.exchange.files.Pages;

/** Two files of 1 MiB in a folder, and options of readers for them. */
final class BlockFiles {
  static final int FILES = 2;
  static final int FILE_BYTES = 1 << 20;

  private final Path folder;
  private ReadModel reads = ReadModel.CHANNEL;
  private ThreadFactory threads = Thread::new;
  private boolean yield;
  private int readers = 2;
  private int blockBytes = 4096;
  private boolean random = true;
  private boolean verified = true;
  private double durationS = 0.2;

  /** Writes the files. */
  BlockFiles(Path folder) throws IOException {
    this.folder = folder;
    Pages pages = new Pages(Options.CONTENT_SEED);
    for (int file = 0; file < FILES; file++) {
      ByteBuffer bytes = ByteBuffer.allocate(FILE_BYTES);
      for (int page = 0; bytes.hasRemaining(); page++) {
        pages.put(file, page, bytes);
      }
      Files.write(path(file), bytes.array());
    }
  }

  Path path(int file) {
    return folder.resolve(Pages.fileName(file));
  }

  /** Changes a byte of a page. */
  void corrupt(int file, int page) throws IOException {
    try (RandomAccessFile open = new RandomAccessFile(path(file).toFile(), "rw")) {
      long at = (long) page * Pages.PAGE_BYTES + 99;
      open.seek(at);
      int before = open.read();
      open.seek(at);
      open.write(before ^ 1);
    }
  }

  void truncate(int file, int bytes) throws IOException {
    try (RandomAccessFile open = new RandomAccessFile(path(file).toFile(), "rw")) {
      open.setLength(bytes);
    }
  }

  BlockFiles reads(ReadModel value) {
    reads = value;
    return this;
  }

  BlockFiles virtual(ThreadFactory factory) {
    threads = factory;
    yield = true;
    return this;
  }

  BlockFiles readers(int value) {
    readers = value;
    return this;
  }

  BlockFiles order(boolean isRandom, int bytesOfBlock) {
    random = isRandom;
    blockBytes = bytesOfBlock;
    return this;
  }

  BlockFiles unverified() {
    verified = false;
    return this;
  }

  BlockFiles durationS(double value) {
    durationS = value;
    return this;
  }

  Options options() {
    return new Options(
        folder,
        reads,
        threads,
        yield,
        readers,
        1,
        blockBytes,
        random,
        FILES,
        FILE_BYTES >> 20,
        verified,
        (long) (durationS * 1e9),
        30_000_000_000L);
  }
}
