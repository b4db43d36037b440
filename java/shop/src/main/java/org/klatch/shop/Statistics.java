package org.klatch.shop;

/**
 * Counts of transactions since the start.
 *
 * @param transactions those that changed something and were stored
 * @param repeats transactions that were made again, because the database ended them for others
 * @param poolWaitUs time that requests waited for a connection, all together, µs
 */
public record Statistics(long transactions, long repeats, long poolWaitUs) {}
