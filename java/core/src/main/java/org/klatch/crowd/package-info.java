/**
 * The classic crowd: simulated users with two threads each, their pacing, accounting and timing.
 */
package org.klatch.crowd;
