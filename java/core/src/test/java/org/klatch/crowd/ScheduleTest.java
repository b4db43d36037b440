package org.klatch.crowd;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import org.junit.jupiter.api.Test;
import org.klatch.chat.Vectors;

class ScheduleTest {
  @Test
  void aSeedGivesTheSchedulesOfTheVectors() {
    JsonNode vectors = Vectors.json("schedule.json").get("schedules");
    assertTrue(vectors.size() > 5);
    for (JsonNode vector : vectors) {
      Schedule schedule =
          new Schedule(
              Long.parseUnsignedLong(vector.get("seed").asText()),
              vector.get("room").asInt(),
              vector.get("user").asInt(),
              vector.path("rate").asDouble(),
              vector.path("arrivals").asText().equals("poisson"),
              vector.has("stages") ? Stages.parse(vector.get("stages").asText()) : null);
      JsonNode due = vector.get("due_ns");
      for (int i = 0; i < due.size(); i++) {
        assertEquals(due.get(i).asLong(), schedule.dueNs(i), "message " + i + " of " + vector);
      }
    }
  }
}
