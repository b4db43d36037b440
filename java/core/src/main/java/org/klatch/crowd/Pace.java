package org.klatch.crowd;

/** How far one user may have gone, judged from what it heard. Belongs to the user's receiver. */
interface Pace {
  /** How many messages the user may have said by now, in all. Never falls. */
  int allowed();

  /** A message of {@code speaker} arrived for the first time. */
  void heard(int speaker);
}
