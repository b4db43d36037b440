package org.klatch.shop.orders;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.klatch.chat.Vectors;
import org.klatch.shop.database.BrokenRules;

/** The vectors that the crowd in Rust reads as well. */
class VectorsTest {
  private static final JsonNode VECTORS = Vectors.json("orders.json");

  private static JsonNode rows(JsonNode value, String name) {
    assertTrue(value.path(name).size() >= 2, name);
    return value.path(name);
  }

  @Test
  void populationsAreThoseOfTheVectors() {
    for (JsonNode one : rows(VECTORS, "populations")) {
      long seed = Long.parseUnsignedLong(one.path("seed").asText());
      Population population = new Population(seed, one.path("rate").asInt());
      assertEquals(one.path("customers").asInt(), population.customers());
      assertEquals(one.path("assemblies").asInt(), population.assemblies());
      assertEquals(one.path("components").asInt(), population.components());
      for (JsonNode expected : rows(one, "of_assemblies")) {
        Population.Assembly assembly = population.assembly(expected.path("assembly").asInt());
        assertEquals(expected.path("price").asInt(), assembly.price());
        List<Population.Part> bill = new ArrayList<>();
        for (JsonNode part : rows(expected, "bill")) {
          bill.add(new Population.Part(part.path(0).asInt(), part.path(1).asInt()));
        }
        assertEquals(bill, assembly.bill());
      }
      for (JsonNode expected : rows(one, "of_components")) {
        int component = expected.path("component").asInt();
        assertEquals(expected.path("on_hand").asInt(), population.onHand(component));
      }
      for (JsonNode expected : rows(one, "of_customers")) {
        Population.Customer customer = population.customer(expected.path("customer").asInt());
        assertEquals(expected.path("discount").asInt(), customer.discount());
        assertEquals(expected.path("limit").asLong(), customer.limit());
        assertEquals(expected.path("owed").asLong(), customer.first().total());
        assertEquals(items(expected), items(customer.first()));
        assertEquals(expected.path("digest").asText(), hex(customer.first().digest()));
      }
    }
  }

  @Test
  void digestsAreThoseOfTheVectors() {
    for (JsonNode one : rows(VECTORS, "orders")) {
      List<Line> lines =
          items(one).stream().map(item -> new Line(item.assembly(), item.quantity(), 0)).toList();
      Order order =
          new Order(
              one.path("order").asLong(),
              one.path("customer").asInt(),
              one.path("cancelled").asBoolean(),
              false,
              one.path("total").asLong(),
              lines);
      assertEquals(one.path("digest").asText(), hex(order.digest()));
    }
    for (JsonNode one : rows(VECTORS, "work_orders")) {
      long id = one.path("work_order").asLong();
      int assembly = one.path("assembly").asInt();
      WorkOrder workOrder = new WorkOrder(id, 4, assembly, one.path("quantity").asInt());
      assertEquals(one.path("digest").asText(), hex(workOrder.digest()));
    }
    for (JsonNode one : rows(VECTORS, "purchases")) {
      long id = one.path("purchase").asLong();
      int component = one.path("component").asInt();
      Purchase purchase = new Purchase(id, component, one.path("quantity").asInt());
      assertEquals(one.path("digest").asText(), hex(purchase.digest()));
    }
  }

  private static String hex(long digest) {
    return BrokenRules.hex(digest);
  }

  private static List<Item> items(JsonNode order) {
    List<Item> items = new ArrayList<>();
    for (JsonNode line : order.path("lines")) {
      items.add(new Item(line.path(0).asInt(), line.path(1).asInt()));
    }
    return items;
  }

  private static List<Item> items(Order order) {
    return order.lines().stream().map(line -> new Item(line.assembly(), line.quantity())).toList();
  }
}
