package org.klatch.exchange.web;

import java.util.Locale;
import org.klatch.exchange.SplitMix;

/** The tables User.Personality and Custom.Ads, and the search for the ad that a page shows. */
final class AdTables {
  private static final int MINIMUM_MAX = 30;

  private final long nowS;
  private final int[] users; // the characteristics of each
  private final Ad[] ads = new Ad[Tags.ADS];

  /**
   * A record of Custom.Ads.
   *
   * @param weights five times four bits, those of the first group in the highest
   */
  private record Ad(int characteristics, int weights, int minimum, long expiresS) {}

  /** Computes both tables. The options must fit into them. */
  AdTables(long seed, TableOptions options) {
    nowS = options.nowS();
    users = new int[options.users()];
    long usersSeed = SplitMix.partSeed(seed, SplitMix.USERS);
    for (int user = 0; user < users.length; user++) {
      users[user] = Group.pickEach(SplitMix.output(usersSeed, user));
    }
    long adsSeed = SplitMix.partSeed(seed, SplitMix.ADS);
    for (int ad = 0; ad < ads.length; ad++) {
      int characteristics = Group.pickEach(SplitMix.output(adsSeed, 2L * ad));
      long bits = SplitMix.output(adsSeed, 2L * ad + 1);
      int weights = 0;
      for (int group = 0; group < Group.COUNT; group++) {
        weights = (weights << 4) | (1 + Group.pick(bits, group, 15));
      }
      int minimum = 1 + Group.pick(bits, 5, MINIMUM_MAX);
      long distanceS = Group.pick(bits, 6, 2) == 0 ? options.earlyS() : options.lateS();
      ads[ad] = new Ad(characteristics, weights, minimum, options.nowS() + distanceS);
    }
  }

  /**
   * Finds the first ad after {@code lastAd} whose weight is at least its minimum. {@code lastAd}
   * itself is not considered.
   *
   * @param user an index in User.Personality; another number finds no ad
   * @param lastAd from 0 to 359
   */
  AdChoice choose(long user, int lastAd) {
    if (user >= users.length) {
      return AdChoice.NONE;
    }
    int characteristics = users[(int) user];
    for (int distance = 1; distance < ads.length; distance++) {
      int number = (lastAd + distance) % ads.length;
      Ad ad = ads[number];
      int weight = Group.weight(characteristics & ad.characteristics, ad.weights);
      if (weight >= ad.minimum) {
        return new AdChoice(number, weight, nowS > ad.expiresS);
      }
    }
    return AdChoice.NONE;
  }

  /** The text of User.Personality: records of 15 bytes. */
  String userPersonality() {
    StringBuilder text = new StringBuilder();
    for (int user = 0; user < users.length; user++) {
      text.append(String.format(Locale.ROOT, "%5d %8X\n", user, users[user]));
    }
    return text.toString();
  }

  /** The text of Custom.Ads: records of 39 bytes. */
  String customAds() {
    StringBuilder text = new StringBuilder();
    for (int number = 0; number < ads.length; number++) {
      Ad ad = ads[number];
      text.append(
          String.format(
              Locale.ROOT,
              "%5d %8X %8X %3d %10d\n",
              number,
              ad.characteristics,
              ad.weights,
              ad.minimum,
              ad.expiresS));
    }
    return text.toString();
  }
}
