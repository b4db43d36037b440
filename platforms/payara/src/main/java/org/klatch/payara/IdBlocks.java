package org.klatch.payara;

import java.util.function.LongSupplier;
import org.klatch.shop.database.Ids;

/** Ids from a sequence of the database, taken in blocks. */
final class IdBlocks {
  private final LongSupplier sequence;
  private long next;
  private long end;

  /**
   * Takes ids from a sequence.
   *
   * @param sequence returns the first id of its next block
   */
  IdBlocks(LongSupplier sequence) {
    this.sequence = sequence;
  }

  /** The next id. */
  synchronized long next() {
    if (next == end) {
      next = sequence.getAsLong();
      end = next + Ids.BLOCK;
    }
    return next++;
  }
}
