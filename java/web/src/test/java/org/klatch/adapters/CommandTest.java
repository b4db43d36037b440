package org.klatch.adapters;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.ServiceLoader;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.klatch.exchange.web.HttpReply;
import org.klatch.server.VirtualThreads;
import org.klatch.web.SiteClient;
import org.klatch.web.WebServer;

/** The command line of klatch-web.jar in a process of its own. */
class CommandTest {
  private static final String FILE = "/file_set/dir00002/class0_0";

  private static Process start(String... options) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("-Djava.io.tmpdir=" + System.getProperty("java.io.tmpdir"));
    command.addAll(List.of("-cp", System.getProperty("java.class.path")));
    command.addAll(List.of("org.klatch.cli.Main", "serve", "--listen", "127.0.0.1:0"));
    command.addAll(List.of(options));
    return new ProcessBuilder(command).redirectErrorStream(true).start();
  }

  private static String firstLine(Process process) throws IOException {
    return new BufferedReader(new InputStreamReader(process.getInputStream(), UTF_8)).readLine();
  }

  static List<String> names() {
    return ServiceLoader.load(WebServer.class).stream()
        .map(ServiceLoader.Provider::get)
        .filter(WebServer::speaksHttp10)
        .map(WebServer::name)
        .toList();
  }

  @ParameterizedTest
  @MethodSource("names")
  void aServerAnnouncesItsPortAndServesItsSite(String name) throws IOException {
    Process process =
        start("--workload", "web", "--server", name, "--directories", "3", "--pool", "20");
    try {
      String ready = firstLine(process);
      assertTrue(ready.matches("ready: " + name + " on 127\\.0\\.0\\.1:\\d+, pid \\d+"), ready);
      int port = Integer.parseInt(ready.replaceFirst(".*:(\\d+),.*", "$1"));
      try (SiteClient client = new SiteClient(port)) {
        HttpReply reply = client.ask(SiteClient.get(FILE));
        assertEquals(200, reply.status());
        assertEquals(404, client.ask(SiteClient.get(FILE.replace("00002", "00003"))).status());
      }
    } finally {
      process.destroyForcibly();
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          --workload web --server clay | unknown server clay; choose one of: jetty, tomcat, undertow, vertx, jdk, helidon
          --workload web --server jetty --threads green | threads must be platform or virtual, got green
          --workload web --server jetty --model threads | --model does not go with --server
          --workload web --server jetty --sendq 5000 | --sendq does not go with --server
          --workload web --server jetty --pool 0 | pool must be 1 to 100000, got 0
          --workload web --server helidon | helidon has no HTTP/1.0, which workload web needs
          --workload trade --server helidon --database jdbc:h2:mem:x --load | helidon has no platform threads; see --threads
          --workload chat --server jetty | --server belongs to --workload rr
          --workload rr --directories 3 | --directories belongs to --workload web
          --workload rr --http2 | --http2 belongs to --server
          --workload rr --server jdk --http2 | jdk does not speak HTTP/2
          --workload rr --server jetty --transport ws | --server has the transport plain, and tls for workloads rr and web
          --workload rr --server jetty --transport tls --certificate c --key k --tls-provider jdk | --tls-provider does not go with --server
          """)
  void wrongUsageIsReported(String options, String message) throws Exception {
    Process process = start(options.split(" ", -1));
    String line = firstLine(process);
    assertTrue(line.startsWith("klatch: " + message + " (`java -jar klatch.jar "), line);
    assertEquals(2, process.waitFor());
  }

  @Test
  void virtualThreadsNeedJava21() throws IOException {
    Process process = start("--workload", "web", "--server", "jdk", "--threads", "virtual");
    try {
      boolean hasThem = Runtime.version().feature() >= VirtualThreads.JAVA_MIN;
      String expected =
          hasThem ? "ready: jdk on " : "klatch: virtual threads need Java 21 or newer";
      String line = firstLine(process);
      assertTrue(line.startsWith(expected), line);
    } finally {
      process.destroyForcibly();
    }
  }
}
