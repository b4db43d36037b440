package org.klatch.shop.vertx;

import io.vertx.core.Future;
import java.util.function.Supplier;
import org.klatch.shop.Market;

/**
 * The market, which is read again when it is too old. One request reads it, and the others use the
 * old one meanwhile.
 */
final class MarketReads {
  private final Supplier<Future<Market>> reader;
  private Market last; // null before the first; guarded by this, as are the others
  private long readNs;
  private boolean isRead;

  /** Takes what reads the market from the database. */
  MarketReads(Supplier<Future<Market>> reader) {
    this.reader = reader;
  }

  /** The market, from memory if it is not too old. */
  Future<Market> market() {
    long nowNs = System.nanoTime();
    synchronized (this) {
      if (last != null && (isRead || nowNs - readNs < Market.AGE_MAX_NS)) {
        return Future.succeededFuture(last);
      }
      isRead = true;
    }
    return reader.get().onComplete(read -> store(read.result(), nowNs));
  }

  /** Ends a read, whose result is null if it failed. */
  private synchronized void store(Market market, long startNs) {
    isRead = false;
    if (market != null) {
      last = market;
      readNs = startNs;
    }
  }
}
