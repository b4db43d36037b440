package org.klatch.readers;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.klatch.crowd.Control;
import org.klatch.crowd.Crowd;
import org.klatch.crowd.PausingCrowd;
import org.klatch.crowd.PausingCrowd.Paused;
import org.klatch.crowd.Result;

/** Pauses readers, in one process. */
class ReaderPausesTest {
  @TempDir Path folder;

  private static Crowd newCrowd(Options options, Control control) {
    try {
      return Readers.newCrowd(options, control);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @ParameterizedTest
  @EnumSource(ReadModel.class)
  void nothingIsReadInAPause(ReadModel reads) throws Exception {
    Options options = new BlockFiles(folder).reads(reads).durationS(3600).options();
    try (PausingCrowd crowd = new PausingCrowd(control -> newCrowd(options, control))) {
      Paused before = crowd.pause();
      for (int i = 0; i < 100; i++) {
        crowd.resume();
        Paused paused = i % 2 == 0 ? crowd.pause() : crowd.pauseAfterDeliveries(500);
        assertEquals(paused.sent(), paused.received());
        assertTrue(paused.sent() >= before.sent() && paused.activeNs() >= before.activeNs());
        assertEquals(paused.received(), paused.latencies());
        before = paused;
        assertEquals(paused, crowd.pause(), "the second pause finds the crowd paused");
      }
      Result result = crowd.finish();
      assertNull(result.failure());
      assertTrue(result.valid() && result.finished());
      assertEquals(before.received(), result.received());
      assertEquals(before.received(), result.latencyNs().total());
      assertEquals(before.activeNs() / 1e9, result.elapsedS());
    }
  }

  /** The pause is longer than the run, which nevertheless goes on after it. */
  @Test
  void theClockStandsStillDuringAPause() throws Exception {
    Options options = new BlockFiles(folder).durationS(0.6).options();
    try (PausingCrowd crowd = new PausingCrowd(control -> newCrowd(options, control))) {
      Paused before = crowd.pauseAfterDeliveries(100);
      Thread.sleep(1000); // the length of the pause is what is tested
      crowd.resume();
      Result result = crowd.result();
      assertTrue(result.valid() && !result.finished());
      assertTrue(result.received() > before.received());
      assertTrue(result.elapsedS() > 0.5 && result.elapsedS() < 0.7, "s: " + result.elapsedS());
      assertTrue(result.latencyNs().quantile(1) < 900_000_000);
    }
  }
}
