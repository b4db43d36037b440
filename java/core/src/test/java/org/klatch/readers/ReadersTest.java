package org.klatch.readers;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.klatch.crowd.Failure;
import org.klatch.crowd.Fault;
import org.klatch.crowd.Result;
import org.klatch.crowd.TestControl;
import org.klatch.server.VirtualThreads;

/** Runs readers to their end, in one process. */
class ReadersTest {
  @TempDir Path folder;
  private BlockFiles files;

  /** A change of the files, at a moment of a run. */
  private interface Change {
    void make() throws IOException;
  }

  @BeforeEach
  void write() throws IOException {
    files = new BlockFiles(folder);
  }

  private Result run() throws Exception {
    return Readers.newCrowd(files.options(), new TestControl()).run();
  }

  /** Changes the files after the readers have joined, because joining refuses wrong files. */
  private Result runWithChange(Change change) throws Exception {
    TestControl control =
        new TestControl() {
          @Override
          public String awaitGo() {
            try {
              change.make();
            } catch (IOException e) {
              throw new UncheckedIOException(e);
            }
            return null;
          }
        };
    return Readers.newCrowd(files.options(), control).run();
  }

  private static void assertValid(Result result, int readers) {
    assertNull(result.failure());
    assertEquals(List.of(), result.faults().first());
    assertTrue(result.valid() && result.received() > 10);
    assertEquals(result.sent(), result.received());
    assertEquals(result.received(), result.latencyNs().total());
    long overTime = result.overTime().intervals().stream().mapToLong(one -> one.total()).sum();
    assertEquals(result.received(), overTime);
    assertEquals(readers, result.parties().parties());
    assertTrue(result.parties().least() > 0, result.parties().toString());
    assertTrue(result.parties().most() * readers >= result.received());
    assertTrue(result.elapsedS() > 0.1 && result.elapsedS() < 2, "s: " + result.elapsedS());
  }

  @ParameterizedTest
  @CsvSource({
    "CHANNEL, true, 4096",
    "CHANNEL, false, 65536",
    "CHANNEL, true, 1048576",
    "MAPPED, true, 4096",
    "MAPPED, false, 65536",
    "MAPPED, true, 1048576",
  })
  void blocksAreReadAndChecked(ReadModel reads, boolean random, int blockBytes) throws Exception {
    files.reads(reads).order(random, blockBytes);
    assertValid(run(), 2);
  }

  /** More readers than files and processors: some have no file to read while they join. */
  @Test
  void everyReaderReads() throws Exception {
    files.readers(9);
    assertValid(run(), 9);
  }

  @Test
  void virtualThreadsTakeTurns() throws Exception {
    if (Runtime.version().feature() >= VirtualThreads.JAVA_MIN) {
      files.readers(9).virtual(VirtualThreads.factory());
      assertValid(run(), 9);
    } else {
      assertThrows(IllegalStateException.class, VirtualThreads::factory);
    }
  }

  @ParameterizedTest
  @EnumSource(ReadModel.class)
  void aChangedPageIsAFaultWithItsFileAndNumber(ReadModel reads) throws Exception {
    files.reads(reads).readers(1);
    Result result = runWithChange(() -> files.corrupt(1, 7));
    assertNull(result.failure());
    long corrupted = result.faults().count(Fault.Kind.CORRUPTED);
    assertTrue(corrupted > 0 && !result.valid());
    assertEquals(result.sent(), result.received() + corrupted);
    Fault fault = result.faults().first().get(0);
    assertEquals(List.of(1, 0, 1L), List.of(fault.reader(), fault.room(), fault.count()));
    assertEquals("page 7 of file 1", fault.detail());
    assertTrue(fault.sequence() >= 0 && fault.sequence() < result.sent());
  }

  @Test
  void unverifiedReadersReadChangedPages() throws Exception {
    files.corrupt(1, 3);
    files.unverified();
    assertValid(run(), 2);
  }

  @Test
  void changedPagesAreRefusedBeforeTheGateOpens() throws Exception {
    files.corrupt(1, 3);
    Failure failure = run().failure();
    assertEquals(Failure.Kind.JOIN, failure.kind());
    assertEquals(
        "reader 2: page 3 of file 1 has other contents than it must have; delete the folder of the"
            + " files, and Klatch writes them again",
        failure.detail());
  }

  @ParameterizedTest
  @EnumSource(ReadModel.class)
  void aFileThatGetsShorterIsAFailure(ReadModel reads) throws Exception {
    files.reads(reads).durationS(20);
    Result result = runWithChange(() -> files.truncate(1, 8192));
    assertEquals(Failure.Kind.READ, result.failure().kind());
    String detail = result.failure().detail();
    String expected =
        reads == ReadModel.CHANNEL
            ? "cannot read " + files.path(1) + ": failed to fill whole buffer"
            : "cannot read a mapped file, which may have become shorter: a fault occurred.*";
    assertTrue(detail.matches("reader [12]: " + expected), detail);
    assertTrue(result.elapsedS() < 10, "s: " + result.elapsedS());
  }

  @Test
  void filesOfAnotherSizeAreRefused() throws Exception {
    files.truncate(1, BlockFiles.FILE_BYTES - 1);
    ReadException e =
        assertThrows(
            ReadException.class, () -> Readers.newCrowd(files.options(), new TestControl()));
    assertEquals(
        "cannot read " + files.path(1) + ": it has 1048575 bytes, and must have 1048576",
        e.getMessage());
  }

  @Test
  void missingFilesAreRefused() throws Exception {
    Files.delete(files.path(1));
    ReadException e =
        assertThrows(
            ReadException.class, () -> Readers.newCrowd(files.options(), new TestControl()));
    assertEquals("cannot read " + files.path(1) + ": No such file or directory", e.getMessage());
  }

  @Test
  void onlyBytesFromStorageCount() {
    String counters = "rchar: 9000\nwchar: 1\nread_bytes: 4096\nwrite_bytes: 0\n";
    assertEquals(4096, DiskReads.parse(counters).getAsLong());
    assertTrue(DiskReads.parse("rchar: 9000\n").isEmpty());
  }
}
