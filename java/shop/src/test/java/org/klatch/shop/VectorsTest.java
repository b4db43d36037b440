package org.klatch.shop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import org.junit.jupiter.api.Test;
import org.klatch.chat.Vectors;

/** The vectors that the crowd in Rust reads as well. */
class VectorsTest {
  private static JsonNode rows(JsonNode value, String name) {
    assertTrue(value.path(name).size() >= 2, name);
    return value.path(name);
  }

  @Test
  void populationsAreThoseOfTheVectors() {
    for (JsonNode one : rows(Vectors.json("trade.json"), "populations")) {
      long seed = Long.parseUnsignedLong(one.path("seed").asText());
      Population population =
          new Population(seed, one.path("users").asInt(), one.path("quotes").asInt());
      for (JsonNode expected : rows(one, "of_users")) {
        Population.FirstUser user = population.user(expected.path("user").asInt());
        assertEquals(expected.path("open_balance").asLong(), user.openBalance());
        assertEquals(expected.path("balance").asLong(), user.balance());
        assertEquals(expected.path("holdings").size(), user.holdings().size());
        for (int i = 0; i < user.holdings().size(); i++) {
          JsonNode row = expected.path("holdings").path(i);
          Holding holding =
              new Holding(
                  row.path(0).asLong(),
                  row.path(1).asInt(),
                  row.path(2).asInt(),
                  row.path(3).asInt());
          assertEquals(holding, user.holdings().get(i));
        }
      }
      for (JsonNode chain : rows(one, "chains")) {
        int symbol = chain.path("symbol").asInt();
        int price = population.open(symbol);
        int changes = 0;
        for (JsonNode expected : rows(chain, "prices")) {
          assertEquals(expected.asInt(), price, "quote " + symbol + " after " + changes);
          price = population.next(symbol, changes, price);
          changes++;
        }
      }
    }
  }

  @Test
  void stepsAndDigestsAreThoseOfTheVectors() {
    JsonNode vectors = Vectors.json("trade.json");
    for (JsonNode step : rows(vectors, "steps")) {
      int next = Population.next(step.path("price").asInt(), step.path("draw").asInt());
      assertEquals(step.path("next").asInt(), next, step.toString());
    }
    for (JsonNode one : rows(vectors, "orders")) {
      Order order =
          new Order(
              one.path("order").asLong(),
              one.path("type").asText().equals("sell"),
              one.path("symbol").asInt(),
              one.path("quantity").asInt(),
              one.path("price").asInt(),
              0,
              Order.FEE,
              one.path("holding").asLong());
      assertEquals(one.path("digest").asText(), "%016x".formatted(order.digest()));
    }
    for (JsonNode one : rows(vectors, "holdings")) {
      Holding holding =
          new Holding(
              one.path("holding").asLong(),
              one.path("symbol").asInt(),
              one.path("quantity").asInt(),
              one.path("paid").asInt());
      assertEquals(one.path("digest").asText(), "%016x".formatted(holding.digest()));
    }
  }
}
