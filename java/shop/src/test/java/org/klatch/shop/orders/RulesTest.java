package org.klatch.shop.orders;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.klatch.shop.RefusedException;

class RulesTest {
  @Test
  void aTotalIsRoundedHalfUpOnce() {
    List<Line> lines = List.of(new Line(1, 1, 1_001), new Line(2, 1, 1_002));
    assertEquals(2_003, Line.total(lines, 0));
    assertEquals(2_002, Line.total(lines, 4), "2002.1988");
    assertEquals(2_003, Line.total(lines, 2), "2002.5994");
    assertEquals(500, Line.total(List.of(new Line(1, 1, 1_000)), 5_000));
    assertEquals(501, Line.total(List.of(new Line(1, 1, 1_001)), 5_000), "500.5");
    List<Line> most = List.of(new Line(1, 1_000, 10_000), new Line(1, 1_000, 10_000));
    assertEquals(20_000_000, Line.total(most, 0));
  }

  @Test
  void anOrderIsLargeFrom51Pieces() {
    assertFalse(Line.areLarge(List.of(new Line(1, 10, 1), new Line(1, 40, 1))));
    assertTrue(Line.areLarge(List.of(new Line(1, 10, 1), new Line(1, 41, 1))));
  }

  @Test
  void aBillHasFiveDifferentComponents() {
    for (int rate : new int[] {1, 101, 10_000}) {
      Population population = new Population(7, rate);
      for (int assembly = 0; assembly < population.assemblies(); assembly++) {
        Set<Integer> components = new HashSet<>();
        for (Population.Part part : population.assembly(assembly).bill()) {
          components.add(part.component());
          assertTrue(part.component() >= 0 && part.component() < population.components());
          assertTrue(part.quantity() >= 1 && part.quantity() <= 3);
        }
        assertEquals(5, components.size(), "assembly " + assembly);
      }
    }
  }

  @Test
  void everyFirstOrderIsSmallAndWithinTheLimit() {
    Population population = new Population(7, 20);
    int poor = 0;
    for (int number = 0; number < population.customers(); number++) {
      Population.Customer customer = population.customer(number);
      assertTrue(customer.first().total() <= customer.limit());
      assertFalse(Line.areLarge(customer.first().lines()));
      poor += customer.limit() < 1_000_000_000 ? 1 : 0;
    }
    assertTrue(poor > 100 && poor < 200, "about a tenth of 1,500, not " + poor);
  }

  @Test
  void linesAreParsedAsPairs() throws RefusedException {
    assertEquals(List.of(new Item(12, 3), new Item(80, 1_000)), OrdersSite.items("12:3,80:1000"));
    for (String wrong :
        List.of("", "12", "12:", ":3", "12:0", "12:1001", "12:3,", "1:1,1:1,1:1,1:1,1:1,1:1")) {
      assertThrows(RefusedException.class, () -> OrdersSite.items(wrong), wrong);
    }
  }
}
