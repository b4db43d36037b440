package org.klatch.server;

import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.klatch.chat.Identity;
import org.klatch.chat.ServerState;
import org.klatch.exchange.EchoService;

/** A message allocates the shared line. Its deliveries, and the replies of an echo, do not. */
class AllocationTest {
  private static final int LISTENERS = 10;
  private static final int WARM_UP = 2_000; // messages, for the JIT compiler
  private static final int MESSAGES = 2_000;
  private static final String TEXT = "PRIVMSG #a :" + "x".repeat(60);

  /** The line, the array of its parts, and the occasional allocation of a wait for events. */
  private static final long BYTES_MAX = 150 + 10 * LISTENERS;

  /** The occasional allocation of a wait for events; less than a copy of the request. */
  private static final long ECHO_BYTES_MAX = 50;

  private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  static Stream<Model> models() {
    return Stream.of(new ThreadsModel(), new SelectorModel());
  }

  @ParameterizedTest
  @MethodSource("models")
  void aDeliveryAllocatesNothing(Model model) throws IOException {
    ServerState state = new ServerState(new Identity("test", "1", "today", "Klatch", "Hello."));
    Options options = new Options("127.0.0.1", 0, true, false, 1, false, 1 << 20, 30, 10);
    List<Client> listeners = new ArrayList<>();
    try (Server server = model.listen(options, state, line -> {})) {
      new Thread(server::run, "test server").start();
      try (Client speaker = Client.joined(server.port(), "ann")) {
        for (int i = 0; i < LISTENERS; i++) {
          listeners.add(Client.joined(server.port(), "u" + i));
        }
        talk(speaker, listeners, WARM_UP);
        long[] ids = serverThreads();
        long[] before = threads.getThreadAllocatedBytes(ids);
        talk(speaker, listeners, MESSAGES);
        long bytes = growth(before, threads.getThreadAllocatedBytes(ids)) / MESSAGES;
        assertTrue(
            bytes <= BYTES_MAX, bytes + " bytes a message, at most " + BYTES_MAX + " are allowed");
      }
    } finally {
      for (Client listener : listeners) {
        listener.close();
      }
    }
  }

  @ParameterizedTest
  @MethodSource("models")
  void anEchoAllocatesNothing(Model model) throws IOException {
    Options options = new Options("127.0.0.1", 0, true, false, 1, false, 1 << 20, 30, 10);
    byte[] request = EchoClient.randomBytes(100, 1);
    try (Server server = model.listen(options, new EchoService(), line -> {})) {
      new Thread(server::run, "test server").start();
      try (EchoClient client = new EchoClient(server.port())) {
        echo(client, request, WARM_UP);
        long[] ids = serverThreads();
        long[] before = threads.getThreadAllocatedBytes(ids);
        echo(client, request, MESSAGES);
        long bytes = growth(before, threads.getThreadAllocatedBytes(ids)) / MESSAGES;
        assertTrue(
            bytes <= ECHO_BYTES_MAX,
            bytes + " bytes a request, at most " + ECHO_BYTES_MAX + " are allowed");
      }
    }
  }

  private static void echo(EchoClient client, byte[] request, int requests) throws IOException {
    for (int i = 0; i < requests; i++) {
      client.echo(request);
    }
  }

  /** Sends one message at a time, so that every sender thread waits before every line. */
  private static void talk(Client speaker, List<Client> listeners, int messages)
      throws IOException {
    for (int i = 0; i < messages; i++) {
      speaker.send(TEXT);
      for (Client listener : listeners) {
        listener.skipTo(":ann!ann@127.0.0.1 " + TEXT);
      }
    }
  }

  private long[] serverThreads() {
    return Arrays.stream(threads.getThreadInfo(threads.getAllThreadIds()))
        .filter(
            info ->
                info != null
                    && info.getThreadName().matches("(receiver|sender|connection|loop) .*"))
        .mapToLong(ThreadInfo::getThreadId)
        .toArray();
  }

  /** Counts live threads only: those of other tests may be ending. */
  private static long growth(long[] before, long[] after) {
    return IntStream.range(0, before.length)
        .filter(i -> before[i] >= 0 && after[i] >= 0)
        .mapToLong(i -> after[i] - before[i])
        .sum();
  }
}
