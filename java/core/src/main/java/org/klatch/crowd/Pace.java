package org.klatch.crowd;

/** The number of messages that one user may send, from its deliveries. Belongs to its receiver. */
interface Pace {
  /** Number of messages that the user may have sent so far, in all. Never decreases. */
  int allowed();

  /** Counts the first delivery of a message of {@code speaker}. */
  void onDelivery(int speaker);
}
