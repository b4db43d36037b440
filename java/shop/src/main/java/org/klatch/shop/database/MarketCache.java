package org.klatch.shop.database;

import java.util.concurrent.atomic.AtomicBoolean;
import org.klatch.shop.Market;
import org.klatch.shop.RefusedException;

/**
 * The market, which is read again when it is too old. One thread reads it, and the others use the
 * old one meanwhile.
 */
public final class MarketCache {
  private final AtomicBoolean isRead = new AtomicBoolean();
  private volatile Entry entry; // null before the first

  private record Entry(Market market, long readNs) {}

  /** Reads the market from the database. */
  public interface Reader {
    Market read() throws RefusedException;
  }

  /** The market, from the cache if it is not too old. */
  public Market market(Reader reader) throws RefusedException {
    Entry current = entry;
    boolean isFresh = current != null && System.nanoTime() - current.readNs() < Market.AGE_MAX_NS;
    if (isFresh || (current != null && !isRead.compareAndSet(false, true))) {
      return current.market();
    }
    try {
      long readNs = System.nanoTime();
      Market market = reader.read();
      entry = new Entry(market, readNs);
      return market;
    } finally {
      isRead.set(false);
    }
  }
}
