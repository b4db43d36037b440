package org.klatch.chat;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

class DialogueTest {
  @TestFactory
  Stream<DynamicTest> everyDialogueGetsItsReplies() throws IOException {
    List<Path> files;
    try (Stream<Path> listing = Files.list(Vectors.path("dialogues"))) {
      files = listing.sorted().toList();
    }
    assertTrue(files.size() > 10, "too few dialogues");
    return files.stream()
        .map(
            file ->
                DynamicTest.dynamicTest(
                    file.getFileName().toString(),
                    () -> new Dialogue().play(Files.readAllLines(file))));
  }
}
