package org.klatch.exchange.files;

import static org.klatch.exchange.files.Pages.HEAD_BYTES;
import static org.klatch.exchange.files.Pages.PAGE_BYTES;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Compares blocks with what they must contain, without allocating. Belongs to one thread. */
public final class PageChecker {
  private static final VarHandle LONG =
      MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private final Pages pages;
  private final ByteBuffer table;

  /**
   * Creates a checker.
   *
   * @param table the table of {@code pages}; only this checker moves its position
   */
  PageChecker(Pages pages, ByteBuffer table) {
    this.pages = pages;
    this.table = table;
  }

  /**
   * Returns the number of the first page in {@code block} that is not as it must be; -1 if all are.
   * The position and limit of {@code block} are lost.
   *
   * @param first the number in {@code file} of the page with which {@code block} begins
   * @param block a block of whole pages
   */
  public int firstWrong(int file, int first, ByteBuffer block) {
    for (int at = 0, page = first; at < block.capacity(); at += PAGE_BYTES, page++) {
      if (!isRight(Pages.name(file, page), block, at)) {
        return page;
      }
    }
    return -1;
  }

  private boolean isRight(long name, ByteBuffer block, int at) {
    long hash = pages.hash(name);
    int place = Pages.placeInTable(hash);
    // In this order: a limit must not be below the position.
    block.limit(at + PAGE_BYTES).position(at + HEAD_BYTES);
    table.limit(place + PAGE_BYTES - HEAD_BYTES).position(place);
    return (long) LONG.get(block, at) == name
        && (long) LONG.get(block, at + Long.BYTES) == hash
        && block.mismatch(table) < 0;
  }
}
