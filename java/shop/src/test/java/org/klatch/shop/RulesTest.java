package org.klatch.shop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;

class RulesTest {
  private static final Population POPULATION = new Population(1, 5_000, 1_000);

  @Test
  void pricesAreRoundedHalfUpAndStayWithinBounds() {
    assertEquals(600, Population.next(1, 0));
    assertEquals(20_001, Population.next(40_001, 20));
    assertEquals(44_000, Population.next(40_000, 20));
    assertEquals(5, Population.next(5, 0), "4.5 becomes 5");
    assertEquals(6, Population.next(5, 20), "5.5 becomes 6");
    for (int symbol = 0; symbol < 50; symbol++) {
      int price = POPULATION.open(symbol);
      for (int changes = 0; changes < 2_000; changes++) {
        price = POPULATION.next(symbol, changes, price);
        assertTrue(price >= 1 && price <= 44_000, "quote " + symbol + ": " + price);
      }
    }
  }

  @Test
  void everyUserHasUpToTenHoldingsThatItsBalancePaid() {
    int[] users = new int[Population.HOLDINGS_MAX + 1];
    for (int user = 0; user < POPULATION.users(); user++) {
      Population.FirstUser first = POPULATION.user(user);
      users[first.holdings().size()]++;
      long paid = first.holdings().stream().mapToLong(one -> one.cost() + Order.FEE).sum();
      assertEquals(first.openBalance() - paid, first.balance());
    }
    for (int count : users) {
      assertTrue(count > 350 && count < 560, "about 5,000 / 11, not " + count);
    }
    assertEquals(100_000_000, POPULATION.user(0).openBalance());
  }

  @Test
  void aProfileHasOneRevision() {
    Profile third = Profile.of(17, 3);
    assertEquals(3, third.revision(17));
    assertEquals(-1, third.revision(18));
    Profile mixed = new Profile(third.name(), "4 Street 17", third.email(), third.card());
    assertEquals(-1, mixed.revision(17));
    assertEquals(-1, new Profile("", "", "", "").revision(17));
  }

  @Test
  void anEmptyListIsAnEmptyArray() {
    assertEquals("{\"quotes\":[]}", json(List.of()));
    Quote quote = new Quote(1, 2, 3, 4, 5);
    String one = "{\"symbol\":1,\"price\":2,\"open\":3,\"changes\":4,\"volume\":5}";
    assertEquals("{\"quotes\":[" + one + "," + one + "]}", json(List.of(quote, quote)));
  }

  private static String json(List<Quote> quotes) {
    return new Json().raw("{\"quotes\":").list(quotes, TradeJson::quote).raw("}").toString();
  }
}
