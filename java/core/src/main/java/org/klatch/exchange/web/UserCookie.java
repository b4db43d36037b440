package org.klatch.exchange.web;

/**
 * The cookie of a request for a page with ads, and of a POST.
 *
 * @param user number of the user, from 0; in the cookie {@link #FIRST_USER} is added
 * @param lastAd the ad that the user's last page showed
 */
record UserCookie(long user, int lastAd) {
  static final int FIRST_USER = 10_000;

  private static final String NAME = "my_cookie=";
  private static final String USER = "user_id=";
  private static final String LAST_AD = "&last_ad=";

  /**
   * Parses the value of a header Cookie, in which other cookies may precede or follow.
   *
   * @param header null without one
   * @return null if there is no such cookie
   * @throws RefusalException if it is malformed
   */
  static UserCookie parse(String header) throws RefusalException {
    if (header == null) {
      return null;
    }
    int start = 0;
    while (start <= header.length()) {
      int semicolon = header.indexOf(';', start);
      int end = semicolon < 0 ? header.length() : semicolon;
      String cookie = header.substring(start, end).strip();
      if (cookie.startsWith(NAME)) {
        return parseValue(cookie.substring(NAME.length()));
      }
      start = end + 1;
    }
    return null;
  }

  private static UserCookie parseValue(String value) throws RefusalException {
    int lastAdAt = value.indexOf(LAST_AD);
    if (!value.startsWith(USER) || lastAdAt < 0) {
      throw new RefusalException(Status.BAD_REQUEST);
    }
    long number = Digits.parse(value, USER.length(), lastAdAt, Digits.U32_MAX);
    int adAt = lastAdAt + LAST_AD.length();
    long lastAd = Digits.parse(value, adAt, value.length(), Tags.ADS - 1);
    if (number < FIRST_USER || lastAd < 0) {
      throw new RefusalException(Status.BAD_REQUEST);
    }
    return new UserCookie(number - FIRST_USER, (int) lastAd);
  }
}
