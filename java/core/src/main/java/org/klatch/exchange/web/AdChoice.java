package org.klatch.exchange.web;

/**
 * The result of a search for an ad.
 *
 * @param ad number of the ad; -1 if none matches
 * @param weight sum of the weights of the groups in which user and ad overlap
 * @param expired whether the ad's time is over; it is shown nevertheless
 */
record AdChoice(int ad, int weight, boolean expired) {
  /** No ad matches, and the tags of the page stay as they are stored. */
  static final AdChoice NONE = new AdChoice(-1, 0, true);

  /** The value of the header Set-Cookie in the reply. */
  String cookie() {
    return "found_cookie=Ad_id=" + ad + "&Ad_weight=" + weight + "&Expired=" + (expired ? 1 : 0);
  }
}
