package org.klatch.cli;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Runs {@code serve} and {@code crowd} as processes, and parses their output. */
class TwoProcessesTest {
  private static final ObjectMapper JSON = new ObjectMapper();

  private Program server;
  private JsonNode ready;

  @BeforeEach
  void start() throws IOException {
    server = new Program("serve", "--model", "threads", "--listen", "127.0.0.1:0", "--json");
    ready = JSON.readTree(server.next());
  }

  @AfterEach
  void stop() throws IOException {
    server.close();
  }

  @Test
  void printsTheReadyLineAndEndsBySignal() throws Exception {
    List<String> names = new ArrayList<>();
    ready.fieldNames().forEachRemaining(names::add);
    assertEquals(
        List.of("event", "host", "port", "pid", "model", "class", "version", "runtime"), names);
    assertEquals("ready", ready.get("event").asText());
    assertEquals("threads", ready.get("model").asText());
    assertEquals("classic", ready.get("class").asText());
    server.terminate();
    assertEquals(143, server.exitStatus());
  }

  @Test
  void theReadyLineOfTheEchoServiceHasNoClass() throws Exception {
    String[] serve = {"serve", "--workload", "rr", "--listen", "127.0.0.1:0"};
    try (Program text = new Program(serve)) {
      String line = text.next();
      assertTrue(line.matches("ready: threads on 127\\.0\\.0\\.1:\\d+, pid \\d+"), line);
    }
    List<String> json = new ArrayList<>(List.of(serve));
    json.add("--json");
    try (Program echo = new Program(json.toArray(String[]::new))) {
      JsonNode line = JSON.readTree(echo.next());
      List<String> names = new ArrayList<>();
      line.fieldNames().forEachRemaining(names::add);
      assertEquals(List.of("event", "host", "port", "pid", "model", "version", "runtime"), names);
      byte[] bytes = {'\r', '\n', 0, -1};
      try (Socket client = new Socket(InetAddress.getLoopbackAddress(), line.get("port").asInt())) {
        client.getOutputStream().write(bytes);
        client.shutdownOutput();
        assertArrayEquals(bytes, client.getInputStream().readAllBytes());
      }
      echo.terminate();
      assertEquals(143, echo.exitStatus());
    }
  }

  @ParameterizedTest
  @CsvSource({
    "--model threads --nodelay false, threads, classic",
    "--model selector --loops 2, selector, classic",
    "--model selector --coalesce, selector, open",
  })
  void everyModelServesACrowd(String options, String model, String kind) throws Exception {
    assertServesACrowd(options, model, kind);
  }

  @ParameterizedTest
  @CsvSource({"--model threads, ''", "--model selector, --subprotocol binary.ircv3.net"})
  void aCrowdUsesWebSocket(String model, String subprotocol) throws Exception {
    String serve = "serve --listen 127.0.0.1:0 --transport ws --json " + model;
    try (Program other = new Program(serve.split(" ", -1))) {
      String port = JSON.readTree(other.next()).get("port").asText();
      String options = "crowd -rooms 2 -users 3 -count 20 -transport ws -port " + port;
      String line = (options + " " + subprotocol).strip();
      try (Program crowd = new Program(line.split(" ", -1))) {
        List<String> lines = crowd.rest();
        assertEquals("valid", lines.get(lines.size() - 1), lines.toString());
      }
    }
  }

  @Test
  void virtualServesACrowdOrReportsTheJavaItNeeds() throws Exception {
    int java = Runtime.version().feature();
    if (java >= 21) {
      assertServesACrowd("--model virtual", "virtual", "classic");
      return;
    }
    try (Program other = new Program("serve", "--model", "virtual")) {
      assertEquals(2, other.exitStatus());
      String expected = "klatch: model virtual needs Java 21 or newer, and this is Java " + java;
      assertEquals(List.of(expected), other.errors());
    }
  }

  private static void assertServesACrowd(String options, String model, String kind)
      throws Exception {
    String serve = "serve --listen 127.0.0.1:0 " + options;
    try (Program other = new Program(serve.split(" ", -1))) {
      String line = other.next();
      String begin = "ready: " + model + " (" + kind + ") on 127.0.0.1:";
      assertTrue(line.startsWith(begin), line);
      String port = line.substring(begin.length()).replaceAll(",.*", "");
      for (String pacing : List.of("turns", "rounds")) {
        String crowd = "crowd -rooms 4 -users 5 -count 50 -pacing " + pacing + " -port " + port;
        try (Program crowdProgram = new Program(crowd.split(" ", -1))) {
          List<String> lines = crowdProgram.rest();
          assertEquals("valid", lines.get(lines.size() - 1), lines.toString());
        }
      }
    }
  }

  @Test
  void theCommandLineOfVolanoMarkWorks() throws Exception {
    try (Program crowd =
        crowd("-host 127.0.0.1 -rooms 2 -users 3 -count 5 -start 7 -pause 0 -yield")) {
      List<String> lines = crowd.rest();
      assertEquals(0, crowd.exitStatus());
      assertEquals("Messages sent      = 30", lines.get(1));
      assertEquals("Messages received  = 60", lines.get(2));
      assertEquals("Total messages     = 90", lines.get(3));
      assertTrue(lines.get(4).startsWith("Elapsed time       = "), lines.toString());
      assertTrue(lines.get(5).endsWith(" messages per second"), lines.toString());
      assertEquals("valid", lines.get(lines.size() - 1));
    }
  }

  @Test
  void printsEventsAndResultAsJson() throws Exception {
    try (Program crowd =
        crowd("-rooms 2 -users 3 -count 20 -pacing rate -rate 20 --json -seed 4")) {
      // On a slow machine the join is reported in several steps.
      List<String> lines = new ArrayList<>(crowd.rest());
      lines.removeIf(line -> line.contains("\"event\":\"joining\""));
      assertEquals(0, crowd.exitStatus());
      assertEquals("joined", event(lines.get(0)));
      assertEquals("progress", event(lines.get(1)));
      assertEquals(360, JSON.readTree(lines.get(1)).get("expected").asInt());
      long reported = total(JSON.readTree(lines.get(1)).get("latency_ns"));
      assertTrue(
          reported >= JSON.readTree(lines.get(1)).get("received").asLong() && reported <= 240);
      assertEquals("done", event(lines.get(lines.size() - 2)));
      JsonNode result = JSON.readTree(lines.get(lines.size() - 1));
      assertEquals("result", result.get("event").asText());
      assertEquals(120, result.get("sent").asInt());
      assertEquals(240, result.get("received").asInt());
      assertEquals(240, total(result.get("latency_ns")));
      JsonNode overTime = result.get("over_time");
      long deliveries = 0;
      for (JsonNode interval : overTime.get("latency_ns")) {
        deliveries += total(interval);
      }
      assertEquals(240, deliveries);
      long intervals = overTime.get("latency_ns").size();
      double lastStart = (intervals - 1) * overTime.get("interval_ms").asLong() / 1e3;
      assertTrue(lastStart > 0.9 && lastStart <= result.get("elapsed_s").asDouble());
      assertEquals(120, total(result.get("send_lag_ns")));
      assertTrue(result.get("elapsed_s").asDouble() > 0.9, "20 messages at 20 a second");
      for (String count : Set.of("lost", "unsent", "duplicated", "reordered", "corrupted")) {
        assertEquals(0, result.get(count).asInt(), count);
      }
      assertEquals("[]", result.get("faults").toString());
      assertEquals("[]", result.get("strangers").toString());
      assertTrue(result.get("failure").isNull());
    }
  }

  @Test
  void goAndQuitSteerTheCrowd() throws Exception {
    try (Program crowd = steered("\"rooms\":1,\"users\":3,\"count\":2")) {
      assertEquals("joined", event(crowd.next()));
      crowd.send("go");
      assertTrue(crowd.skipTo("\"done\"") != null);
      crowd.send("quit");
      assertTrue(crowd.next().contains("\"finished\":false,\"failure\":null"));
      assertEquals(0, crowd.exitStatus());
    }
  }

  @Test
  void pausesAreReportedAndFinishEndsTheRun() throws Exception {
    try (Program crowd = steered("\"rooms\":2,\"users\":3,\"count\":1000000")) {
      for (String command : "go pause resume pause pause resume finish".split(" ", -1)) {
        crowd.send(command);
      }
      long latencies = 0;
      JsonNode paused = null;
      for (int i = 0; i < 3; i++) {
        paused = JSON.readTree(crowd.skipTo("\"paused\""));
        assertEquals(2 * paused.get("sent").asLong(), paused.get("received").asLong());
        latencies += total(paused.get("latency_ns"));
        assertEquals(paused.get("received").asLong(), latencies);
      }
      assertTrue(crowd.skipTo("\"done\"") != null);
      crowd.send("quit");
      JsonNode result = JSON.readTree(crowd.next());
      assertTrue(result.get("finished").asBoolean());
      assertTrue(result.get("failure").isNull());
      assertEquals(0, result.get("unsent").asInt());
      double pausedS = paused.get("active_ns").asLong() / 1e9;
      assertTrue(result.get("elapsed_s").asDouble() >= pausedS);
      assertEquals(0, crowd.exitStatus());
    }
  }

  @Test
  void aPauseBeforeTheGateOpensStopsTheCrowd() throws Exception {
    try (Program crowd = steered("\"rooms\":1,\"users\":3,\"count\":2")) {
      crowd.send("pause");
      JsonNode failure = JSON.readTree(crowd.skipTo("\"result\"")).get("failure");
      assertEquals("stopped: got pause instead of `go`", failure.get("detail").asText());
    }
  }

  @Test
  void queuedCommandsWorkAfterTheEndOfInput() throws Exception {
    try (Program crowd = steered("\"rooms\":1,\"users\":3,\"count\":2")) {
      crowd.send("go");
      crowd.send("quit");
      crowd.endOfInput();
      assertTrue(crowd.skipTo("\"result\"").contains("\"failure\":null"));
      assertEquals(0, crowd.exitStatus());
    }
  }

  @Test
  void withoutAJobNoCrowdStarts() throws Exception {
    try (Program crowd = new Program("crowd", "--job")) {
      crowd.endOfInput();
      assertEquals(2, crowd.exitStatus());
      assertEquals(List.of("klatch: standard input has no job"), crowd.errors());
    }
  }

  @Test
  void endOfInputInsteadOfGoStopsTheCrowd() throws Exception {
    try (Program crowd = steered("\"rooms\":1,\"users\":3,\"count\":2")) {
      crowd.endOfInput();
      JsonNode result = JSON.readTree(crowd.skipTo("\"result\""));
      assertEquals("stopped", result.get("failure").get("kind").asText());
      assertEquals(6, result.get("unsent").asInt());
      assertEquals(1, crowd.exitStatus());
    }
  }

  @Test
  void endOfInputDuringTheRunStopsTheCrowd() throws Exception {
    try (Program crowd =
        steered(
            "\"rooms\":1,\"users\":3,\"count\":1000,"
                + "\"pacing\":{\"kind\":\"rate\",\"per_user_per_s\":1.0}")) {
      crowd.next();
      crowd.send("go");
      crowd.next(); // a progress event
      crowd.endOfInput();
      JsonNode result = JSON.readTree(crowd.skipTo("\"result\""));
      assertEquals("stopped", result.get("failure").get("kind").asText());
      assertEquals(1, crowd.exitStatus());
    }
  }

  @Test
  void aSignalStopsTheCrowdWithAResult() throws Exception {
    try (Program crowd = crowd("-rooms 1 -users 3 -count 1000 -pacing rate -rate 1 --json")) {
      crowd.next();
      crowd.next(); // a progress event
      crowd.terminate();
      JsonNode result = JSON.readTree(crowd.skipTo("\"result\""));
      assertEquals("stopped", result.get("failure").get("kind").asText());
      assertEquals(1, crowd.exitStatus());
    }
  }

  @Test
  void aServerThatDiesMakesTheRunInvalid() throws Exception {
    try (Program crowd = crowd("-rooms 2 -users 3 -count 1000 -pacing rate -rate 10")) {
      assertTrue(crowd.next().startsWith("All joined after "));
      server.terminate();
      List<String> lines = crowd.rest();
      assertEquals(1, crowd.exitStatus());
      String failure =
          lines.stream().filter(line -> line.startsWith("invalid: ")).findFirst().get();
      assertTrue(failure.matches("invalid: disconnect: room \\d, user \\d: the .*"), failure);
      assertTrue(lines.stream().anyMatch(line -> line.matches("invalid: \\d+ unsent")));
      assertEquals(List.of(), crowd.errors());
    }
  }

  private Program crowd(String options) throws IOException {
    String all = "crowd -port " + ready.get("port").asInt() + " " + options;
    return new Program(all.split(" ", -1));
  }

  /** A crowd with a parent, whose job has these settings of its workload. */
  private Program steered(String settings) throws IOException {
    Program crowd = new Program("crowd", "--job");
    String server =
        "{\"protocol\":\"irc\",\"host\":\"127.0.0.1\",\"port\":" + ready.get("port") + "}";
    crowd.send("{\"workload\":{\"kind\":\"chat\"," + settings + "},\"server\":" + server + "}");
    return crowd;
  }

  private static String event(String line) throws IOException {
    return JSON.readTree(line).get("event").asText();
  }

  private static long total(JsonNode buckets) {
    long total = 0;
    for (JsonNode bucket : buckets) {
      total += bucket.get(1).asLong();
    }
    return total;
  }
}
