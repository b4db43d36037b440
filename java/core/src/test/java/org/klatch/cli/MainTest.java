package org.klatch.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Every error prints one line and exits with status 2. */
class MainTest {
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          crowd -rooms 0             | rooms must be 1 to 65535, got 0
          crowd --rooms=many         | rooms must be 1 to 65535, got many
          crowd -users 1             | users must be 2 to 10000, got 1
          crowd -size 10             | size must be 36 to 400, got 10
          crowd -count 0             | count must be 1 to 100000000, got 0
          crowd -start 65535         | start + rooms - 1 must be at most 65535, the highest room number
          crowd -port 99999          | port must be 1 to 65535, got 99999
          crowd -pause NaN           | pause must be a number from 0 to 86400, got NaN
          crowd -timeout 0           | timeout must be a number from 0.1 to 86400, got 0
          crowd -pacing sometimes    | pacing must be turns, rounds, flood or rate, got sometimes
          crowd -pacing rate         | pacing rate needs -rate, above 0, or -stages
          crowd -rate 5              | -rate needs -pacing rate
          crowd -stages 5s:5         | -stages needs -pacing rate
          crowd -pacing rate -stages 5s:5 -rate 5 | -rate cannot be combined with -stages
          crowd -pacing rate -stages 5s:5 -count 5 | -count cannot be combined with -stages
          crowd -pacing rate -stages 5s | stages must be as in 60s:100,30s:0, got 5s
          crowd -pacing rate -stages 0s:0 | stages must be as in 60s:100,30s:0, got 0s:0
          crowd -pacing rate -stages 5s:-1 | stages must be as in 60s:100,30s:0, got 5s:-1
          crowd -pacing rate -stages 5s:NaN | stages must be as in 60s:100,30s:0, got 5s:NaN
          crowd -pacing rate -rate 5 -pause 1 | -pause must be 0 under -pacing rate: its schedule is fixed in advance
          crowd -seed -1             | seed must be 0 to 18446744073709551615, got -1
          crowd -window 5            | -window needs -pacing rounds
          crowd -transport tcp       | transport must be plain, ws, tls or wss, got tcp
          crowd -subprotocol none    | -subprotocol needs -transport ws or wss
          crowd -path /irc           | -path needs -transport ws or wss
          crowd -transport ws -path irc | path must begin with / and have no spaces, got irc
          crowd -transport ws -subprotocol mqtt | subprotocol must be text.ircv3.net, binary.ircv3.net or none, got mqtt
          crowd -bogus 1             | unknown option -bogus
          crowd --bogus=1            | unknown option -bogus
          crowd -port                | option -port needs a value: N
          crowd -port 1 --port 2     | option -port is given twice
          crowd --steered            | unknown option -steered
          crowd --json=yes           | option -json takes no value
          crowd room                 | unexpected argument room
          crowd -workload rr         | workload must be chat or files, got rr
          crowd -unverified          | unknown option -unverified
          crowd -workload files      | workload files needs -folder DIR
          crowd -workload files -folder . -rooms 3 | unknown option -rooms
          crowd -workload files -folder . -block 5000 | block size must be a power of two, 4096 to 1048576 bytes, got 5000
          crowd -workload files -folder . -block 2097152 | block size must be a power of two, 4096 to 1048576 bytes, got 2097152
          crowd -workload files -folder . -order back | order must be random or sequential, got back
          crowd -workload files -folder . -reads slowly | reads must be channel or mapped, got slowly
          crowd -workload files -folder . -threads green | threads must be platform or virtual, got green
          crowd -workload files -folder . -readers 2 -start 1000000 | start + readers - 1 must be at most 1000000
          crowd -workload files -folder . -duration 0 | duration must be a number from 0.001 to 86400, got 0
          serve -listen 6667         | listen must be HOST:PORT, got 6667
          serve -listen a:99999      | port must be 0 to 65535, got 99999
          serve -model clay          | unknown model clay; choose one of: threads, virtual, selector
          serve -model netty         | unknown model netty; choose one of: threads, virtual, selector; netty is in klatch-netty.jar
          serve -model selector -yield | --yield belongs to the models threads and virtual
          serve -transport wss       | transports tls and wss need --certificate and --key
          serve -key a -transport ws | --key needs --transport tls or wss
          crowd -ca a                | -ca needs -transport tls or wss
          serve -workload rr -transport ws | transports ws and wss belong to --workload chat
          serve -loops 2             | --loops belongs to the models virtual and selector
          serve -io nio              | no model of this jar has --io; netty has
          serve -io kqueue           | io must be epoll or nio, got kqueue
          serve -coalesce            | --coalesce belongs to the model selector
          serve -model selector -loops 0 | loops must be 1 to 1024, got 0
          serve -workload ftp        | unknown workload ftp; choose one of: chat, rr, web, trade, orders
          serve -workload rr -yield  | --yield belongs to --workload chat
          serve -workload rr -model selector -coalesce | --coalesce belongs to --workload chat
          serve -workload rr -loops 2 | --loops belongs to the models virtual and selector
          serve -workload web -yield | --yield belongs to --workload chat
          serve -directories 5       | --directories belongs to --workload web
          serve -workload rr -content-seed 5 | --content-seed belongs to --workload web
          serve -workload web -directories 0 | directories must be 1 to 100000, got 0
          serve -workload web -server jetty | servers of other projects are in klatch-web.jar
          serve -server jetty        | servers of other projects are in klatch-web.jar
          serve -workload web -pool 5 | --pool belongs to --server
          serve -workload web -threads virtual | --threads belongs to --server
          serve -workload web -threads green | threads must be platform or virtual, got green
          serve -nodelay no          | nodelay must be true or false, got no
          serve -sendq 1             | sendq must be 1024 to 1073741824, got 1
          dance                      | unknown command dance: serve, crowd or audit
          serve -workload trade -database jdbc:h2:mem:x | workload trade needs --server
          audit                      | trade needs --database URL
          audit -database jdbc:h2:mem:x | workload trade is in klatch-web.jar
          audit orders -database jdbc:h2:mem:x | workload orders is in klatch-web.jar
          audit orders               | orders needs --database URL
          audit orders -users 5      | --users belongs to --workload trade
          audit -rate 5              | --rate belongs to --workload orders
          audit chat                 | workload chat has no database
          serve -workload orders -rate 0 | rate must be 1 to 10000, got 0
          """)
  void wrongUsageIsReported(String arguments, String message) throws Exception {
    String line = onlyError(arguments.trim().split(" +", -1));
    assertTrue(line.startsWith("klatch: " + message.trim() + " (`java -jar klatch.jar "), line);
  }

  @Test
  void aMissingCertificateIsReported() throws Exception {
    String expected = "klatch: there is no file /nonexistent/a";
    String serve = "serve -transport tls -key /nonexistent/b -certificate /nonexistent/a";
    assertEquals(expected, onlyError(serve.split(" ", -1)));
    assertEquals(expected, onlyError("crowd", "-transport", "tls", "-ca", "/nonexistent/a"));
  }

  @Test
  void aPortInUseIsReported() throws Exception {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      String listen = "127.0.0.1:" + taken.getLocalPort();
      assertEquals(
          "klatch: cannot listen on "
              + listen
              + ": Address already in use (Bind failed); choose another -listen",
          onlyError("serve", "-listen", listen).replace("use;", "use (Bind failed);"));
    }
  }

  @Test
  void aRefusedConnectionIsReported() throws Exception {
    int port;
    try (ServerSocket closed = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = closed.getLocalPort();
    }
    String expected =
        "klatch: cannot connect to 127.0.0.1 port "
            + port
            + ": Connection refused; is a server running there?";
    assertEquals(expected, onlyError("crowd", "-port", "" + port));
  }

  @Test
  void helpIsPrinted() throws Exception {
    for (String[] arguments :
        new String[][] {
          {"--help"},
          {"serve", "--help"},
          {"crowd", "-help", "-rooms", "3"},
          {"crowd", "-workload", "files", "-help"}
        }) {
      try (Program program = new Program(arguments)) {
        List<String> lines = program.rest();
        assertEquals(0, program.exitStatus());
        assertEquals(List.of(), program.errors());
        assertTrue(lines.size() > 5, lines.toString());
        assertTrue(lines.stream().allMatch(line -> line.length() <= 110), lines.toString());
      }
    }
  }

  /** Runs to the end: nothing on standard output, one line of errors, status 2. */
  private static String onlyError(String... arguments) throws IOException, InterruptedException {
    try (Program program = new Program(arguments)) {
      assertEquals(List.of(), program.rest());
      assertEquals(2, program.exitStatus());
      assertEquals(1, program.errors().size(), program.errors().toString());
      return program.errors().get(0);
    }
  }
}
