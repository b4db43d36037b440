package org.klatch.exchange.web;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FileIdTest {
  @Test
  void aDirectoryHasThePublishedSize() {
    int bytes = IntStream.range(0, 36).map(index -> FileId.at(index).sizeBytes()).sum();
    assertEquals(5_119_484, bytes);
    assertEquals(102, new FileId(0, 0, 0).sizeBytes());
    assertEquals(FileId.BYTES_MAX, new FileId(0, 3, 8).sizeBytes());
  }

  @Test
  void pathsParseBackToTheirFiles() {
    FileId last = new FileId(99_999, 3, 8);
    assertEquals("/file_set/dir99999/class3_8", last.path());
    for (int index = 0; index <= last.index(); index += 7) {
      FileId file = FileId.at(index);
      assertEquals(file, FileId.parse(file.path()));
      assertEquals(index, file.index());
    }
    assertNull(FileId.at(last.index() + 1));
  }

  @Test
  void everyOtherByteNamesAnotherFileOrNone() {
    FileId file = new FileId(12_345, 2, 3);
    for (int at = 0; at < FileId.PATH_BYTES; at++) {
      for (char c = 0; c < 256; c++) {
        StringBuilder path = new StringBuilder(file.path());
        path.setCharAt(at, c);
        boolean same = path.toString().equals(file.path());
        assertEquals(same, file.equals(FileId.parse(path.toString())), path.toString());
      }
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "/",
        "/file_set/dir00000/class0_9",
        "/file_set/dir00000/class4_0",
        "/file_set/dir0000:/class0_0",
        "/file_set/dir0000 /class0_0",
        "/file_set/dir000000/class0_0",
        "/file_set/dir00000/class0_00",
        "/file_set/dir-0001/class0_0",
        "/FILE_SET/dir00000/class0_0",
        "file_set/dir00000/class0_0/"
      })
  void otherPathsNameNoFile(String path) {
    assertNull(FileId.parse(path));
  }
}
