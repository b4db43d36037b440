package org.klatch.crowd;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.klatch.crowd.PausingCrowd.Paused;

/** Pauses a crowd against the real server, in one process. */
class PauseTest {
  private static final int MANY = 1_000_000; // more messages than any of these tests waits for

  @ParameterizedTest
  @EnumSource(Pacing.class)
  void everyPauseWaitsForAllDeliveries(Pacing pacing) throws Exception {
    try (TestServer server = new TestServer(false);
        PausingCrowd crowd = new PausingCrowd(options(server.port(), pacing))) {
      Paused before = crowd.pause();
      for (int i = 0; i < 100; i++) {
        crowd.resume();
        Paused paused = i % 2 == 0 ? crowd.pause() : crowd.pauseAfterDeliveries(50);
        assertEquals(paused.sent() * 3, paused.received());
        assertTrue(paused.sent() >= before.sent() && paused.activeNs() >= before.activeNs());
        assertEquals(paused.received(), paused.latencies());
        before = paused;
      }
      Result result = crowd.finish();
      assertNull(result.failure());
      assertEquals(List.of(), result.faults().first());
      assertTrue(result.valid() && result.finished());
      assertEquals(before.sent(), result.sent());
      assertEquals(before.received(), result.latencyNs().total());
      assertEquals(before.activeNs() / 1e9, result.elapsedS());
    }
  }

  /** The second pause of each pair finds the crowd paused. */
  @Test
  void queuedCommandsGiveOneEventForEachPause() throws Exception {
    try (TestServer server = new TestServer(false);
        PausingCrowd crowd = new PausingCrowd(options(server.port(), Pacing.FLOOD))) {
      for (int i = 0; i < 50; i++) {
        crowd.command(Crowd::pause);
        crowd.command(Crowd::pause);
        crowd.command(Crowd::resume);
      }
      for (int i = 0; i < 50; i++) {
        Paused first = crowd.nextPause();
        Paused second = crowd.nextPause();
        assertEquals(first.sent(), second.sent());
        assertEquals(first.latencies(), second.latencies());
      }
      assertTrue(crowd.finish().valid());
      assertNull(crowd.pauses.poll());
    }
  }

  @ParameterizedTest
  @EnumSource(Pacing.class)
  void finishWithoutAPauseGivesAValidResult(Pacing pacing) throws Exception {
    try (TestServer server = new TestServer(false);
        PausingCrowd crowd = new PausingCrowd(options(server.port(), pacing))) {
      crowd.awaitDeliveries(100);
      Result result = crowd.finish();
      assertTrue(result.valid() && result.finished());
      assertEquals(0, result.faults().count(Fault.Kind.UNSENT));
      assertEquals(result.sent() * 3, result.received());
      assertTrue(result.sent() < 8L * MANY);
    }
  }

  /** The pause lasts much longer than the time-out, and than the interval between messages. */
  @ParameterizedTest
  @CsvSource({"RATE, 0", "FLOOD, 0.01"})
  void theClockStandsStillDuringAPause(Pacing pacing, double restS) throws Exception {
    try (TestServer server = new TestServer(false)) {
      TestOptions options = options(server.port(), pacing).pauseS(restS).timeoutS(0.6);
      try (PausingCrowd crowd = new PausingCrowd(options)) {
        Paused before = crowd.pauseAfterDeliveries(20);
        Thread.sleep(1500); // the length of the pause is what is tested
        crowd.resume();
        Paused after = crowd.pauseAfterDeliveries(20);
        Result result = crowd.finish();
        assertTrue(result.valid());
        assertTrue(after.activeNs() - before.activeNs() < 1_000_000_000, "active: " + after);
        assertTrue(result.elapsedS() < 1.4, "elapsed: " + result.elapsedS());
        assertTrue(result.latencyNs().quantile(1) < 1_000_000_000);
        assertTrue(result.sendLagNs().quantile(1) < 1_000_000_000);
        long widthMs = result.overTime().intervalMs() * result.overTime().intervals().size();
        assertTrue(widthMs < 1450, "timeline: " + widthMs + " ms");
        double most = 8 * (pacing == Pacing.RATE ? 200 : 100) * result.elapsedS() + 8;
        assertTrue(result.sent() <= most, result.sent() + " messages, at most " + most);
      }
    }
  }

  /** All deliveries are held back until the pause has begun. */
  @Test
  void aPauseLastsUntilTheLastDelivery() throws Exception {
    CountDownLatch sent = new CountDownLatch(8);
    CountDownLatch released = new CountDownLatch(1);
    Proxy.Tamper hold =
        (listener, line) -> {
          if (line.contains(" PRIVMSG ")) {
            sent.countDown();
            assertTrue(released.await(30, TimeUnit.SECONDS));
          }
          return List.of(line);
        };
    try (TestServer server = new TestServer(false);
        Proxy proxy = new Proxy(server.port(), hold);
        PausingCrowd crowd = new PausingCrowd(options(proxy.port(), Pacing.ROUNDS))) {
      assertTrue(sent.await(30, TimeUnit.SECONDS), "a line is held for every user");
      crowd.command(Crowd::pause);
      assertNull(crowd.pauses.poll(200, TimeUnit.MILLISECONDS));
      released.countDown();
      Paused paused = crowd.nextPause();
      // A user may have been told to pause before its first message: every listener holds a line of
      // another one, which takes two speakers in each of the two rooms.
      assertTrue(paused.sent() >= 4 && paused.sent() <= 8, "sent: " + paused.sent());
      assertEquals(3 * paused.sent(), paused.received());
      assertTrue(crowd.finish().valid());
    }
  }

  @Test
  void aLostDeliveryEndsAPauseByTheTimeOut() throws Exception {
    CountDownLatch lost = new CountDownLatch(1);
    Proxy.Tamper lose =
        (listener, line) -> {
          if (!listener.equals("r1u1") || !line.contains(" :0000 00000003 ")) {
            return List.of(line);
          }
          lost.countDown();
          return List.of();
        };
    try (TestServer server = new TestServer(false);
        Proxy proxy = new Proxy(server.port(), lose);
        PausingCrowd crowd =
            new PausingCrowd(options(proxy.port(), Pacing.FLOOD).rooms(1).timeoutS(0.6))) {
      assertTrue(lost.await(30, TimeUnit.SECONDS));
      Result result = crowd.finish();
      assertEquals(Failure.Kind.TIMEOUT, result.failure().kind());
      assertEquals(1, result.failure().user());
      assertEquals(1, result.faults().count(Fault.Kind.LOST));
      assertEquals(0, result.faults().count(Fault.Kind.UNSENT));
    }
  }

  @Test
  void aServerThatClosesDuringAPauseIsAFailure() throws Exception {
    TestServer server = new TestServer(false);
    Proxy proxy = new Proxy(server.port(), (listener, line) -> List.of(line));
    try (server;
        PausingCrowd crowd = new PausingCrowd(options(proxy.port(), Pacing.TURNS))) {
      crowd.pauseAfterDeliveries(20);
      proxy.close();
      Result result = crowd.result();
      assertEquals(Failure.Kind.DISCONNECT, result.failure().kind());
      assertFalse(result.finished());
      assertTrue(result.faults().count(Fault.Kind.UNSENT) > 0);
    } finally {
      proxy.close();
    }
  }

  /** Under {@code flood} users rest a little, because a long run would overflow the send queues. */
  private static TestOptions options(int port, Pacing pacing) {
    TestOptions options = TestOptions.create(port, pacing).count(MANY);
    return switch (pacing) {
      case RATE -> options.rate(200);
      case FLOOD -> options.pauseS(0.001);
      case TURNS, ROUNDS -> options;
    };
  }
}
