package org.klatch.exchange.files;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.ByteBuffer;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

/** Any changed bit of a block is detected, with its page. */
class PageCheckerTest {
  private final Pages pages = new Pages(7);

  @Property(tries = 300)
  void anyChangedBitIsDetectedWithItsPage(
      @ForAll @IntRange(max = 998) int file,
      @ForAll @IntRange(max = 1 << 20) int first,
      @ForAll @IntRange(min = 1, max = 4) int count,
      @ForAll @IntRange(max = 1 << 14) int place,
      @ForAll @IntRange(max = 7) int bit) {
    ByteBuffer block = ByteBuffer.allocateDirect(count * Pages.PAGE_BYTES);
    for (int page = first; page < first + count; page++) {
      pages.put(file, page, block);
    }
    PageChecker checker = pages.newChecker();
    assertEquals(-1, checker.firstWrong(file, first, block));
    assertEquals(first, checker.firstWrong(file + 1, first, block));
    assertEquals(first + 1, checker.firstWrong(file, first + 1, block));
    int at = place % block.capacity();
    block.clear().put(at, (byte) (block.get(at) ^ 1 << bit));
    assertEquals(first + at / Pages.PAGE_BYTES, checker.firstWrong(file, first, block));
  }
}
