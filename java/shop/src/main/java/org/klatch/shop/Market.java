package org.klatch.shop;

import java.util.List;

/**
 * The quotes that moved most.
 *
 * @param gainers those that rose most since they opened, first the one that rose most
 * @param losers those that fell most, first the one that fell most
 */
public record Market(List<Quote> gainers, List<Quote> losers) {
  /** A market is read again when it is older, ns. */
  public static final long AGE_MAX_NS = 20_000_000_000L;
}
