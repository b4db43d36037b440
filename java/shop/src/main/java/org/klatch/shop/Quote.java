package org.klatch.shop;

/**
 * A quote.
 *
 * @param symbol its number
 * @param price cents
 * @param open the first price, cents
 * @param changes changes of the price so far
 * @param volume shares that were traded
 */
public record Quote(int symbol, int price, int open, int changes, long volume) {}
