package org.klatch.crowd;

/**
 * A time in which the crowd did not run although it was due.
 *
 * @param fromS its begin, seconds after the opening of the gate, without pauses
 * @param toS its end, in the same form
 */
public record Gap(double fromS, double toS) {}
