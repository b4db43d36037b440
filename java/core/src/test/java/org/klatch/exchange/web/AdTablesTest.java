package org.klatch.exchange.web;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AdTablesTest {
  private static final int EVERYBODY = 0x3fffffff;

  private final AdTables tables = new AdTables(7, TableOptions.INITIAL);

  @Test
  void groupsAreThePublishedMasks() {
    List<Integer> masks = Group.ALL.stream().map(Group::mask).toList();
    assertEquals(List.of(0x30000000, 0x0f000000, 0x00f00000, 0x000ffc00, 0x000003ff), masks);
    List<Integer> weights = masks.stream().map(mask -> Group.weight(mask, 0x12345)).toList();
    assertEquals(List.of(1, 2, 3, 4, 5), weights);
    assertEquals(75, Group.weight(EVERYBODY, 0xfffff));
  }

  /** Compares the search with a plain one over the records of the tables. */
  @Test
  void theSearchFindsTheFirstAdAfterTheLastOne() {
    String[] users = tables.userPersonality().split("\n", -1);
    String[] ads = tables.customAds().split("\n", -1);
    Set<Integer> found = new HashSet<>();
    int expired = 0;
    for (int user = 0; user < 1000; user += 31) {
      int characteristics = Integer.parseInt(users[user].substring(6).strip(), 16);
      for (int lastAd = 0; lastAd < Tags.ADS; lastAd++) {
        AdChoice choice = tables.choose(user, lastAd);
        assertEquals(search(ads, characteristics, lastAd), choice);
        found.add(choice.ad());
        expired += choice.expired() ? 1 : 0;
      }
    }
    assertTrue(found.size() > 200 && !found.contains(-1), found.size() + " ads");
    assertTrue(expired > 33 * 360 / 3 && expired < 33 * 360 * 2 / 3, expired + " have expired");
  }

  private static AdChoice search(String[] ads, int characteristics, int lastAd) {
    for (int distance = 1; distance < ads.length - 1; distance++) {
      int number = (lastAd + distance) % Tags.ADS;
      String[] fields = ads[number].strip().split(" +", -1);
      int overlap = characteristics & Integer.parseInt(fields[1], 16);
      int weight = Group.weight(overlap, Integer.parseInt(fields[2], 16));
      if (weight >= Integer.parseInt(fields[3])) {
        boolean expired = TableOptions.INITIAL.nowS() > Long.parseLong(fields[4]);
        return new AdChoice(number, weight, expired);
      }
    }
    return AdChoice.NONE;
  }

  @Test
  void anUnknownUserFindsNoAd() {
    assertEquals(AdChoice.NONE, tables.choose(1000, 0));
    assertEquals(AdChoice.NONE, tables.choose(Digits.U32_MAX, 0));
    assertEquals("found_cookie=Ad_id=-1&Ad_weight=0&Expired=1", AdChoice.NONE.cookie());
  }

  @Test
  void recordsHaveThePublishedSizes() {
    var largest = new TableOptions(TableOptions.USERS_MAX, 9_999_999_998L, -1, 1);
    assertTrue(largest.fit());
    AdTables full = new AdTables(7, largest);
    assertTrue(full.userPersonality().lines().allMatch(line -> line.length() == 14));
    assertTrue(full.customAds().lines().allMatch(line -> line.length() == 38));
  }

  @ParameterizedTest
  @CsvSource({
    "0, 1000000000, 0, 0",
    "100001, 1000000000, 0, 0",
    "1, 86399, -86400, 0",
    "1, 9999999999, 0, 1",
    "1, -1, 1, 1"
  })
  void optionsMustFitIntoTheRecords(int users, long nowS, long earlyS, long lateS) {
    assertFalse(new TableOptions(users, nowS, earlyS, lateS).fit());
  }
}
