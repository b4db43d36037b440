package org.klatch.crowd;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Runs a whole crowd against the real server, in one process. */
class CrowdTest {
  @ParameterizedTest
  @EnumSource(Pacing.class)
  void everyPacingGivesAValidResult(Pacing pacing) throws Exception {
    try (TestServer server = new TestServer(false)) {
      TestOptions options = TestOptions.create(server.port(), pacing);
      run(pacing == Pacing.RATE ? options.rate(100) : options);
    }
  }

  @Test
  void yieldAtBothEndsGivesAValidResult() throws Exception {
    try (TestServer server = new TestServer(true)) {
      run(TestOptions.create(server.port(), Pacing.TURNS).yielding());
    }
  }

  @Test
  void aWindowGivesAValidResult() throws Exception {
    try (TestServer server = new TestServer(false)) {
      run(TestOptions.create(server.port(), Pacing.ROUNDS).window(5));
    }
  }

  @Test
  void aPauseDelaysEveryMessage() throws Exception {
    try (TestServer server = new TestServer(false)) {
      Result result =
          run(TestOptions.create(server.port(), Pacing.FLOOD).rooms(1).count(4).pauseS(0.05));
      assertTrue(result.elapsedS() >= 0.15, "three pauses between four messages");
    }
  }

  @Test
  void moreUsersThanTheJoinLimitAllJoin() throws Exception {
    try (TestServer server = new TestServer(false)) {
      run(TestOptions.create(server.port(), Pacing.TURNS).rooms(10).users(10).count(1));
    }
  }

  /** The second user can join only after the report of the first. */
  @Test
  void joinedUsersAreReportedWhileOthersJoin() throws Exception {
    TestControl control = new TestControl();
    AtomicBoolean first = new AtomicBoolean(true);
    Proxy.Tamper hold =
        (listener, line) -> {
          if (line.contains(" 366 ") && !first.getAndSet(false)) {
            assertTrue(control.joining.await(30, TimeUnit.SECONDS));
          }
          return List.of(line);
        };
    try (TestServer server = new TestServer(false);
        Proxy proxy = new Proxy(server.port(), hold)) {
      Options options =
          TestOptions.create(proxy.port(), Pacing.TURNS).rooms(1).users(2).timeoutS(5).build();
      assertNull(new Crowd(options, control).run().failure());
    }
  }

  /**
   * Deliveries are held back until all messages are sent. A latency from the actual send time would
   * not show the delay of the first message, because the sends follow the schedule.
   */
  @Test
  void underRateLatencyCountsFromTheIntendedSendTime() throws Exception {
    int messages = 2 * 20;
    CountDownLatch allSent = new CountDownLatch(messages);
    Proxy.Tamper hold =
        (listener, line) -> {
          if (line.contains(" PRIVMSG ")) {
            assertTrue(allSent.await(30, TimeUnit.SECONDS));
          }
          return List.of(line);
        };
    try (TestServer server = new TestServer(false);
        Proxy proxy = new Proxy(server.port(), hold)) {
      proxy.onSend(
          line -> {
            if (line.startsWith("PRIVMSG")) {
              allSent.countDown();
            }
          });
      Result result =
          run(TestOptions.create(proxy.port(), Pacing.RATE).rooms(1).users(2).count(20).rate(100));
      long first = result.latencyNs().quantile(1);
      assertTrue(first >= 180_000_000, "the first waited for the other 19 periods: " + first);
      assertEquals(messages, result.sendLagNs().total());
    }
  }

  /** Ends by time, and what was sent is delivered. */
  @ParameterizedTest
  @EnumSource(Pacing.class)
  void aDurationEndsTheSendingAndNotTheDeliveries(Pacing pacing) throws Exception {
    boolean hasRate = pacing == Pacing.RATE;
    try (TestServer server = new TestServer(false)) {
      TestOptions options = TestOptions.create(server.port(), pacing).durationS(0.3);
      options = hasRate ? options.rate(100).poisson() : options.pauseS(0.01);
      TestControl control = new TestControl();
      Options built = options.build();
      Result result = new Crowd(built, control).run();
      assertNull(result.failure());
      assertTrue(result.valid() && !result.finished() && result.sent() > 0);
      assertEquals(result.sent() * 3, result.received());
      assertTrue(result.elapsedS() > 0.2 && result.elapsedS() < 5, "" + result.elapsedS());
      assertEquals(List.of("joined", "go", "done", "quit"), control.events);
      if (hasRate) {
        long due = 0;
        for (int room = 1; room <= 2; room++) {
          for (int user = 0; user < 4; user++) {
            due += built.countOf(room, user);
          }
        }
        assertEquals(due, result.sent());
      }
    }
  }

  @Test
  void everyMessageIsCountedInTheStageInWhichItIsDue() throws Exception {
    try (TestServer server = new TestServer(false)) {
      Options options =
          TestOptions.create(server.port(), Pacing.RATE).stages("0s:50,0.2s:50,0.2s:0").build();
      Result result = new Crowd(options, new TestControl()).run();
      assertTrue(result.valid());
      StageCounts stages = result.stages();
      assertEquals(3, stages.count());
      assertEquals(0, stages.intended(0));
      // 8 users with 10 messages, and then 5, each to 3 others; the phase moves one at the end.
      assertEquals(240, stages.intended(1));
      assertTrue(Math.abs(stages.intended(2) - 120) <= 24, "" + stages.intended(2));
      assertEquals(result.received(), stages.intended(1) + stages.intended(2));
      assertEquals(240, stages.latencyNs(1).total());
      assertEquals(stages.intended(2), stages.latencyNs(2).total());
      assertTrue(stages.inTime(1) <= 240 && stages.inTime(1) > 0);
    }
  }

  private static Result run(TestOptions testOptions) throws InterruptedException {
    Options options = testOptions.build();
    TestControl control = new TestControl();
    Result result = new Crowd(options, control).run();
    assertNull(result.failure());
    assertEquals(List.of(), result.faults().first());
    assertTrue(result.valid());
    assertEquals(options.expectedSent(), result.sent());
    assertEquals(options.expectedReceived(), result.received());
    assertEquals(options.expectedReceived(), result.latencyNs().total());
    assertEquals(
        options.expectedReceived(),
        result.overTime().intervals().stream().mapToLong(Histogram::total).sum());
    assertEquals(options.pacing() == Pacing.RATE ? result.sent() : 0, result.sendLagNs().total());
    assertTrue(result.elapsedS() > 0 && result.joinS() > 0 && result.score() > 0);
    assertEquals(List.of("joined", "go", "done", "quit"), control.events);
    assertFalse(threadIsLeft());
    return result;
  }

  private static boolean threadIsLeft() {
    return Thread.getAllStackTraces().keySet().stream()
        .anyMatch(thread -> thread.getName().matches("(receiver|sender) r\\d+u\\d+"));
  }
}
