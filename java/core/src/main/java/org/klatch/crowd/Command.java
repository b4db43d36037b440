package org.klatch.crowd;

/** A parent's command to a crowd whose gate has opened. */
enum Command {
  /** No user begins another message; the crowd reports when all those sent are delivered. */
  PAUSE,
  /** Users go on sending. */
  RESUME,
  /** As {@link #PAUSE}, and then the run ends. */
  FINISH
}
