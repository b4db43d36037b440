package org.klatch.shop.orders;

/**
 * A line of an order as a dealer enters it.
 *
 * @param quantity pieces
 */
public record Item(int assembly, int quantity) {}
