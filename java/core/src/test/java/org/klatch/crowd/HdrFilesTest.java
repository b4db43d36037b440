package org.klatch.crowd;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.HdrHistogram.EncodableHistogram;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramLogReader;
import org.junit.jupiter.api.Test;

/** HdrHistogram, the reference implementation, reads the files that klatch writes. */
class HdrFilesTest {
  private static final Path VECTORS = Path.of("..", "..", "vectors");

  @Test
  void theReferencePrintsTheDistributionThatKlatchPrints() throws IOException {
    Histogram all = new Histogram(3);
    int lines = 0;
    try (HistogramLogReader log =
        new HistogramLogReader(VECTORS.resolve("latency.hlog").toFile())) {
      for (EncodableHistogram next = log.nextIntervalHistogram();
          next != null;
          next = log.nextIntervalHistogram()) {
        assertEquals("delivery", next.getTag());
        all.add((Histogram) next);
        lines++;
      }
      assertEquals(1_767_225_600_000L, (long) (log.getStartTimeSec() * 1e3));
    }
    assertEquals(3, lines);
    ByteArrayOutputStream printed = new ByteArrayOutputStream();
    all.outputPercentileDistribution(
        new PrintStream(printed, true, StandardCharsets.UTF_8), 5, 1e6);
    List<String> reference =
        printed
            .toString(StandardCharsets.UTF_8)
            .lines()
            .filter(l -> !l.contains("#[Buckets"))
            .toList();
    assertEquals(reference, Files.readAllLines(VECTORS.resolve("latency.hgrm")));
  }
}
