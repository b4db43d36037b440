package org.klatch.crowd;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;

class GapsTest {
  @Test
  void aLateThreadMakesAGapOnlyIfItIsVeryLate() {
    assertFalse(Gaps.isGap(100_000_000));
    assertTrue(Gaps.isGap(5_000_000_000L));
  }

  @Test
  void theLongestGapsAreKeptInOrder() {
    Gaps gaps = new Gaps();
    for (long second = 1; second <= 150; second++) {
      gaps.add(second * 1_000_000_000, (second == 3 ? 900 : second) * 1_000_000);
    }
    List<Gap> list = gaps.list();
    assertEquals(100, list.size());
    assertEquals(new Gap(2.1, 3), list.get(0));
    assertEquals(150, list.get(99).toS());
  }

  @Test
  void aStallDoesNotIncludeAGap() {
    StallTimer timer = new StallTimer(1_000_000_000);
    timer.extend(5_000_000_000L);
    assertFalse(timer.isStalled(0));
    timer.extend(-7_000_000_000L);
    assertTrue(timer.isStalled(0));
  }
}
