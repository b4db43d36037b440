package org.klatch.readers;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.OptionalLong;

/** What this process caused to be read from a disk. */
final class DiskReads {
  private static final Path COUNTERS = Path.of("/proc/self/io");
  private static final String NAME = "read_bytes: ";

  private DiskReads() {}

  /** Bytes read from storage so far; empty if the kernel does not count them. */
  static OptionalLong bytes() {
    try {
      return parse(Files.readString(COUNTERS));
    } catch (IOException e) {
      return OptionalLong.empty();
    }
  }

  static OptionalLong parse(String counters) {
    return counters
        .lines()
        .filter(line -> line.startsWith(NAME))
        .mapToLong(line -> Long.parseLong(line.substring(NAME.length())))
        .findFirst();
  }
}
