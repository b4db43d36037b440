package org.klatch.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.klatch.exchange.files.Pages;

/** Runs {@code crowd --workload files} as a process, and parses its output. */
class ReadersProgramTest {
  private static final ObjectMapper JSON = new ObjectMapper();

  @TempDir Path folder;

  @BeforeEach
  void writeFile() throws IOException {
    ByteBuffer bytes = ByteBuffer.allocate(1 << 20);
    for (int page = 0; bytes.hasRemaining(); page++) {
      new Pages(1).put(0, page, bytes);
    }
    Files.write(folder.resolve("file0000"), bytes.array());
  }

  private Program readers(String options) throws IOException {
    List<String> all = new ArrayList<>(List.of("crowd", "--folder", folder.toString()));
    all.addAll(List.of("--workload", "files", "--files", "1", "--file-mib", "1"));
    all.addAll(List.of(options.split(" ", -1)));
    return new Program(all.toArray(String[]::new));
  }

  @Test
  void commandsSteerTheReaders() throws Exception {
    try (Program readers = new Program("crowd", "--job")) {
      String workload =
          "{\"kind\":\"files\",\"readers\":2,\"files\":1,\"file_mib\":1,\"duration_s\":86400}";
      String folderInJson = JSON.writeValueAsString(folder.toString());
      readers.send("{\"workload\":" + workload + ",\"folder\":" + folderInJson + "}");
      assertTrue(readers.next().startsWith("{\"event\":\"joined\",\"join_s\":"));
      for (String command : "go pause resume pause resume finish".split(" ", -1)) {
        readers.send(command);
      }
      JsonNode first = JSON.readTree(readers.skipTo("\"paused\""));
      JsonNode second = JSON.readTree(readers.skipTo("\"paused\""));
      assertEquals(first.get("sent"), first.get("received"));
      assertTrue(second.get("sent").asLong() >= first.get("sent").asLong());
      assertTrue(readers.skipTo("\"done\"") != null);
      readers.send("quit");
      JsonNode result = JSON.readTree(readers.next());
      assertTrue(
          result.get("finished").asBoolean() && result.get("failure").isNull(), result.toString());
      assertEquals(result.get("sent"), result.get("received"));
      assertEquals(2, result.get("results").get("parties").get("parties").asInt());
      assertTrue(result.get("sent").asLong() >= second.get("sent").asLong());
      assertEquals(0, readers.exitStatus());
    }
  }

  @Test
  void progressIsReported() throws Exception {
    try (Program readers = readers("--duration 1.2 --json")) {
      JsonNode progress = JSON.readTree(readers.skipTo("\"progress\""));
      long done = progress.get("sent").asLong() + progress.get("received").asLong();
      double expected = progress.get("expected").asDouble() / done;
      assertTrue(expected > 1.5 && expected < 3, "1.2 s after 0.5 s: " + expected);
      JsonNode result = JSON.readTree(readers.skipTo("\"result\""));
      assertTrue(Math.abs(result.get("elapsed_s").asDouble() - 1.2) < 0.1, result.toString());
      assertEquals(0, readers.exitStatus());
    }
  }

  @Test
  void theTextNamesFaults() throws Exception {
    try (Program readers = readers("--duration 0.5")) {
      assertTrue(readers.next().startsWith("All joined after "));
      byte[] bytes = Files.readAllBytes(folder.resolve("file0000"));
      bytes[5 * Pages.PAGE_BYTES] ^= 1;
      Files.write(folder.resolve("file0000"), bytes, StandardOpenOption.WRITE);
      List<String> lines = readers.rest();
      assertEquals(1, readers.exitStatus());
      assertTrue(lines.get(0).startsWith("Blocks read        = "), lines.toString());
      String fault = lines.get(lines.size() - 1);
      String expected = "invalid: corrupted: reader 1, read \\d+ \\(page 5 of file 0\\)";
      assertTrue(fault.matches(expected), fault);
      assertTrue(lines.stream().anyMatch(line -> line.matches("invalid: \\d+ corrupted")));
    }
  }

  @Test
  void filesThatCannotBeReadAreReported() throws Exception {
    Files.delete(folder.resolve("file0000"));
    try (Program readers = readers("--json")) {
      assertEquals(2, readers.exitStatus());
      String file = folder.resolve("file0000").toString();
      String expected = "klatch: cannot read " + file + ": No such file or directory";
      assertEquals(List.of(expected), readers.errors());
    }
  }
}
