package org.klatch.web;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class SessionTableTest {
  private static final int THREADS = 4;
  private static final int ROUNDS = 20_000;

  private int counted; // by all threads, without any lock but the one under test

  @ParameterizedTest
  @EnumSource(HotLock.Waiting.class)
  void oneThreadAtATimeHasTheLock(HotLock.Waiting waiting) throws InterruptedException {
    HotLock lock = new HotLock(waiting);
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < THREADS; i++) {
      Thread thread =
          new Thread(
              () -> {
                for (int round = 0; round < ROUNDS; round++) {
                  lock.acquire();
                  counted++;
                  lock.release();
                }
              });
      threads.add(thread);
      thread.start();
    }
    for (Thread thread : threads) {
      thread.join();
    }
    assertEquals(THREADS * ROUNDS, counted);
  }
}
