/** The crowd: simulated users with two threads each, their pacing, checks and timing. */
package org.klatch.crowd;
