package org.klatch.crowd;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

/** A server that commits each fault, in the deliveries of user 0's messages to user 1 of room 1. */
class ServerFaultTest {
  private static final String VICTIM = "r1u1";

  @Test
  void aLostDeliveryIsDetected() throws Exception {
    Result result = runTampered(message(3, line -> List.of()), 0.5);
    assertEquals(List.of(fault(Fault.Kind.LOST, 3L, null)), result.faults().first());
    assertEquals(Failure.Kind.TIMEOUT, result.failure().kind());
    assertEquals(1, result.failure().user());
    assertEquals(result.sent() * 3 - 1, result.received());
  }

  @Test
  void aDuplicatedDeliveryIsDetected() throws Exception {
    Result result = runTampered(message(3, line -> List.of(line, line)), 30);
    assertEquals(List.of(fault(Fault.Kind.DUPLICATED, 3L, null)), result.faults().first());
    assertNull(result.failure());
    assertFalse(result.valid());
  }

  @Test
  void aDuplicateOfTheLastDeliveryIsDetected() throws Exception {
    Result result = runTampered(message(9, line -> List.of(line, line)), 30);
    assertEquals(List.of(fault(Fault.Kind.DUPLICATED, 9L, null)), result.faults().first());
  }

  @Test
  void aReorderedDeliveryIsDetected() throws Exception {
    List<String> held = new ArrayList<>();
    Proxy.Tamper hold =
        (listener, line) -> {
          if (isMessage(listener, line, 3)) {
            held.add(line);
            return List.of();
          }
          return isMessage(listener, line, 4) ? List.of(line, held.get(0)) : List.of(line);
        };
    Result result = runTampered(hold, 30);
    assertEquals(List.of(fault(Fault.Kind.REORDERED, 3L, null)), result.faults().first());
    assertNull(result.failure());
    assertEquals(result.sent() * 3, result.received());
  }

  @Test
  void aChangedDeliveryIsDetected() throws Exception {
    Result result =
        runTampered(message(3, edited(line -> line.substring(0, line.length() - 1) + "!")), 0.5);
    assertAltered(result, "got: 0000 00000003 ");
  }

  @Test
  void aDeliveryOfAnotherSizeIsDetected() throws Exception {
    assertAltered(runTampered(message(3, edited(line -> line + "x")), 0.5), "got: 0000 00000003 ");
  }

  @Test
  void aDeliveryWithAnotherSenderIsDetected() throws Exception {
    Result result = runTampered(message(3, edited(line -> line.replace(":r1u0!", ":r1u2!"))), 0.5);
    assertEquals(1, result.faults().count(Fault.Kind.CORRUPTED));
    assertEquals(2, result.faults().first().stream().mapToInt(Fault::speaker).max().getAsInt());
  }

  @Test
  void aDeliveryToAnotherRoomIsDetected() throws Exception {
    Result result =
        runTampered(message(3, edited(line -> line.replace("#klatch-1 ", "#klatch-2 "))), 0.5);
    assertAltered(result, "delivered to #klatch-2");
  }

  @Test
  void aDeliveryToItsSpeakerIsDetected() throws Exception {
    AtomicReference<String> own = new AtomicReference<>(); // the victim's first message
    Proxy.Tamper echo =
        (listener, line) -> isMessage(listener, line, 3) ? List.of(own.get(), line) : List.of(line);
    try (TestServer server = new TestServer(false);
        Proxy proxy = new Proxy(server.port(), echo)) {
      proxy.onSend(
          line -> {
            if (line.startsWith("PRIVMSG #klatch-1 :0001 00000000 ")) {
              own.set(":r1u1!r1u1@127.0.0.1 " + line);
            }
          });
      Result result = run(TestOptions.create(proxy.port(), Pacing.TURNS).rooms(1));
      Fault echoed =
          new Fault(Fault.Kind.DUPLICATED, 1, 1, 1, 0L, 1, "delivered to its own speaker");
      assertEquals(List.of(echoed), result.faults().first());
      assertNull(result.failure());
    }
  }

  @Test
  void aClosedConnectionIsAFailure() throws Exception {
    Result result = runTampered(message(3, line -> null), 30);
    assertEquals(Failure.Kind.DISCONNECT, result.failure().kind());
    assertEquals(1, result.failure().room());
    assertEquals(1, result.failure().user());
    assertEquals("the server closed the connection", result.failure().detail());
    assertTrue(result.faults().count(Fault.Kind.LOST) > 0);
  }

  @Test
  void messagesThatWereNotSentAreCounted() throws Exception {
    Proxy.Tamper close = (listener, line) -> line.contains(" PRIVMSG ") ? null : List.of(line);
    try (TestServer server = new TestServer(false);
        Proxy proxy = new Proxy(server.port(), close)) {
      Result result =
          run(TestOptions.create(proxy.port(), Pacing.TURNS).rooms(1).users(2).count(5));
      assertEquals(10, result.sent() + result.faults().count(Fault.Kind.UNSENT));
      Fault last = result.faults().first().get(result.faults().first().size() - 1);
      assertEquals(new Fault(Fault.Kind.UNSENT, 1, null, 1, 0L, 5, null), last);
    }
  }

  @Test
  void anErrorNumericIsAFailure() throws Exception {
    String error = ":test 404 r1u1 #klatch-1 :Cannot send to channel";
    Result result = runTampered(message(3, line -> List.of(error)), 30);
    assertEquals(
        new Failure(
            Failure.Kind.REFUSED,
            1,
            1,
            "the server answered: 404 #klatch-1 Cannot send to channel"),
        result.failure());
  }

  @Test
  void aRejectedRegistrationIsAFailure() throws Exception {
    String error = ":test 433 * r1u1 :Nickname is already in use";
    Proxy.Tamper reject =
        (listener, line) ->
            listener.equals(VICTIM) && line.contains(" 001 ") ? List.of(error) : List.of(line);
    Result result = runTampered(reject, 30);
    assertEquals(
        new Failure(
            Failure.Kind.JOIN, 1, 1, "the server answered: 433 r1u1 Nickname is already in use"),
        result.failure());
    assertEquals(0, result.elapsedS());
    assertEquals(40, result.faults().count(Fault.Kind.UNSENT));
  }

  @Test
  void aStrangerIsReportedAndIsNoFault() throws Exception {
    Result result =
        runTampered(
            message(
                3,
                line -> List.of(":eve!e@h PRIVMSG #klatch-1 :hi", line, ":eve!e@h JOIN #klatch-1")),
            30);
    assertTrue(result.valid());
    assertEquals(List.of(new Stranger(1, "eve", 1)), result.strangers());
  }

  @Test
  void aStrangerInNamesIsReported() throws Exception {
    Proxy.Tamper named =
        (listener, line) -> List.of(line.contains(" 353 ") ? line + " @adam r1u77" : line);
    Result result = runTampered(named, 30);
    assertTrue(result.valid());
    assertEquals(
        List.of(new Stranger(1, "adam", 0), new Stranger(1, "r1u77", 0)), result.strangers());
  }

  @Test
  void aPingIsAnsweredBeforeAndAfterJoining() throws Exception {
    Proxy.Tamper ping =
        (listener, line) ->
            line.contains(" 001 ") || isMessage(listener, line, 3)
                ? List.of("PING :a b", line)
                : List.of(line);
    try (TestServer server = new TestServer(false);
        Proxy proxy = new Proxy(server.port(), ping)) {
      Result result = run(TestOptions.create(proxy.port(), Pacing.TURNS).rooms(1));
      assertTrue(result.valid());
      assertEquals(5, proxy.sent.stream().filter("PONG :a b"::equals).count());
    }
  }

  @Test
  void aMissingMessageOfTheDayIsNoFailure() throws Exception {
    Proxy.Tamper none =
        (listener, line) ->
            List.of(line.contains(" 376 ") ? ":test 422 x :MOTD File is missing" : line);
    assertTrue(runTampered(none, 30).valid());
  }

  @Test
  void aSilentServerTimesOut() throws Exception {
    try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
      Result result = run(TestOptions.create(silent.getLocalPort(), Pacing.TURNS).timeoutS(0.2));
      assertEquals(Failure.Kind.TIMEOUT, result.failure().kind());
      assertEquals("no user has joined for 0.2 s; 0 of 8 have joined", result.failure().detail());
    }
  }

  @Test
  void aRefusedConnectionIsAFailure() throws Exception {
    int port;
    try (ServerSocket closed = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
      port = closed.getLocalPort();
    }
    Result result = run(TestOptions.create(port, Pacing.TURNS));
    assertEquals(Failure.Kind.CONNECT, result.failure().kind());
    assertTrue(result.failure().detail().endsWith("port " + port + ": Connection refused"));
  }

  private static void assertAltered(Result result, String detail) {
    Fault corrupted = result.faults().first().get(0);
    assertEquals(Fault.Kind.CORRUPTED, corrupted.kind());
    assertEquals(
        List.of(1, 1, 0), List.of(corrupted.room(), corrupted.user(), corrupted.speaker()));
    assertTrue(corrupted.detail().startsWith(detail), corrupted.detail());
    assertEquals(1, result.faults().count(Fault.Kind.CORRUPTED));
    assertEquals(fault(Fault.Kind.LOST, 3L, null), result.faults().first().get(1));
    assertEquals(Failure.Kind.TIMEOUT, result.failure().kind());
  }

  private static Fault fault(Fault.Kind kind, Long sequence, String detail) {
    return new Fault(kind, 1, 1, 0, sequence, 1, detail);
  }

  /** Replaces one line by any number of lines. */
  private interface Change {
    List<String> apply(String line);
  }

  private static Change edited(UnaryOperator<String> edit) {
    return line -> List.of(edit.apply(line));
  }

  private static Proxy.Tamper message(int sequence, Change change) {
    return (listener, line) ->
        isMessage(listener, line, sequence) ? change.apply(line) : List.of(line);
  }

  private static boolean isMessage(String listener, String line, int sequence) {
    return listener.equals(VICTIM)
        && line.startsWith(":r1u0!")
        && line.contains(String.format(" :0000 %08x ", sequence));
  }

  private static Result runTampered(Proxy.Tamper tamper, double timeoutS) throws Exception {
    try (TestServer server = new TestServer(false);
        Proxy proxy = new Proxy(server.port(), tamper)) {
      return run(TestOptions.create(proxy.port(), Pacing.FLOOD).rooms(1).timeoutS(timeoutS));
    }
  }

  private static Result run(TestOptions options) throws InterruptedException {
    return new Crowd(options.build(), new TestControl()).run();
  }
}
