package org.klatch.exchange.web;

/**
 * The parameters of the ad tables, which the command Reset sets.
 *
 * @param users number of users, 1 to {@link #USERS_MAX}
 * @param nowS the time of reference, in seconds since 1970; the site takes it for the present
 * @param earlyS when an ad expires, in seconds after the time of reference: each ad has one of two
 * @param lateS the other of the two
 */
record TableOptions(int users, long nowS, long earlyS, long lateS) {
  /** The five digits of a record in User.Personality number at most so many. */
  static final int USERS_MAX = 100_000;

  /** Latest time that the ten digits of a record in Custom.Ads can hold. */
  static final long TIME_MAX_S = 9_999_999_999L;

  /** The tables before the first Reset. */
  static final TableOptions INITIAL = new TableOptions(1000, 1_000_000_000, -86_400, 86_400);

  /** Whether all values fit into the records. */
  boolean fit() {
    return users >= 1
        && users <= USERS_MAX
        && isTime(nowS)
        && isTime(nowS + earlyS)
        && isTime(nowS + lateS);
  }

  private static boolean isTime(long timeS) {
    return timeS >= 0 && timeS <= TIME_MAX_S;
  }
}
