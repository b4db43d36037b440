package org.klatch.readers;

import java.nio.file.Path;
import java.util.concurrent.ThreadFactory;

/**
 * Options of a crowd of readers: how it reads, and the workload.
 *
 * @param folder the folder of the files
 * @param reads the way to read a block
 * @param threads creates the thread of a reader, not started
 * @param yield whether a reader yields now and then, because its thread gives up its processor only
 *     when it waits
 * @param readers number of readers
 * @param start number of the first reader, from 1
 * @param blockBytes bytes of a read: a power of two, and whole pages
 * @param random whether the order of blocks is random
 * @param files number of files
 * @param fileMib size of each file, MiB
 * @param verified whether blocks are compared with what they must contain
 * @param durationNs time for which blocks are read, ns
 * @param timeoutNs time without progress after which the crowd fails, ns
 */
public record Options(
    Path folder,
    ReadModel reads,
    ThreadFactory threads,
    boolean yield,
    int readers,
    int start,
    int blockBytes,
    boolean random,
    int files,
    int fileMib,
    boolean verified,
    long durationNs,
    long timeoutNs) {
  /** The seed of all contents and orders: see docs/reference/files.md. */
  static final long CONTENT_SEED = 1;

  long fileBytes() {
    return (long) fileMib << 20;
  }

  long blocksPerFile() {
    return fileBytes() / blockBytes;
  }
}
