package org.klatch.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.klatch.server.EchoClient.randomBytes;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.klatch.exchange.EchoService;

/** Rules for every model under the echo service. */
@Timeout(120)
public abstract class EchoRules {
  private static final int MIB = 1 << 20;

  /** More than the buffers of the kernel for both directions: net.ipv4.tcp_rmem and tcp_wmem. */
  private static final long IN_FLIGHT_MAX = 64L * MIB;

  private final Model model;
  private final int loops;
  private Server server;

  protected EchoRules(Model model, int loops) {
    this.model = model;
    this.loops = loops;
  }

  @AfterEach
  void stop() throws IOException {
    server.close();
  }

  @Test
  void everyConnectionGetsBackItsOwnBytes() throws Exception {
    int port = start();
    List<FutureTask<Void>> clients = new ArrayList<>();
    for (int i = 0; i < 6; i++) {
      int seed = i;
      clients.add(EchoClient.inBackground(() -> echoInPieces(port, seed)));
    }
    for (FutureTask<Void> client : clients) {
      client.get();
    }
  }

  private static Void echoInPieces(int port, int seed) throws Exception {
    byte[] bytes = randomBytes(200_000, seed);
    try (EchoClient client = new EchoClient(port)) {
      FutureTask<Void> sending = client.sendInPieces(bytes, 3000, seed);
      client.receive(bytes, bytes.length);
      sending.get();
    }
    return null;
  }

  @Test
  void oneMebibyteAtOnceReachesASlowReader() throws Exception {
    byte[] bytes = randomBytes(MIB, 1);
    try (EchoClient client = new EchoClient(start())) {
      FutureTask<Void> sending =
          EchoClient.inBackground(
              () -> {
                client.send(bytes);
                return null;
              });
      client.receive(bytes, 1000);
      sending.get();
    }
  }

  @Test
  void aHalfClosedConnectionGetsAllItsBytesAndThenEnds() throws Exception {
    byte[] bytes = randomBytes(MIB, 2);
    try (EchoClient client = new EchoClient(start())) {
      FutureTask<Void> sending =
          EchoClient.inBackground(
              () -> {
                client.send(bytes);
                client.endOutput();
                return null;
              });
      client.receive(bytes, 1000);
      client.expectEnd();
      sending.get();
    }
  }

  @Test
  void aServerReadsNoMoreThanItsClientDoes() throws Exception {
    long sent = 0;
    long received = 0;
    ByteBuffer out = ByteBuffer.allocate(MIB);
    ByteBuffer in = ByteBuffer.allocate(4096);
    try (Selector selector = Selector.open();
        SocketChannel client = SocketChannel.open()) {
      client.setOption(StandardSocketOptions.SO_RCVBUF, 64 * 1024);
      client.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), start()));
      client.configureBlocking(false);
      SelectionKey key = client.register(selector, SelectionKey.OP_READ | SelectionKey.OP_WRITE);
      // Reads only when it cannot write: then the server has stopped reading, or is about to.
      while (sent < 96L * MIB) {
        selector.select(ready -> {});
        int written = client.write(out.clear());
        sent += written;
        if (written == 0) {
          received += client.read(in.clear());
        }
        assertTrue(sent - received <= IN_FLIGHT_MAX, "the server holds " + (sent - received));
      }
      client.shutdownOutput();
      key.interestOps(SelectionKey.OP_READ);
      int count;
      while ((count = client.read(out.clear())) >= 0) {
        received += count;
        selector.select(ready -> {});
      }
      assertEquals(sent, received);
    }
  }

  @Test
  void aResetEndsOneConnectionOnly() throws Exception {
    int port = start();
    byte[] bytes = randomBytes(100, 3);
    try (EchoClient stays = new EchoClient(port)) {
      for (int i = 0; i < 3; i++) {
        try (EchoClient leaves = new EchoClient(port)) {
          leaves.echo(bytes);
          leaves.send(randomBytes(20_000, 4)); // reset while it is echoed
          leaves.reset();
        }
        stays.echo(bytes);
      }
    }
  }

  @Test
  void connectionsAreNotHalfOpen() throws Exception {
    int port = start();
    byte[] bytes = randomBytes(100, 5);
    try (EchoClient first = new EchoClient(port);
        EchoClient second = new EchoClient(port);
        EchoClient third = new EchoClient(port)) {
      third.echo(bytes);
      second.echo(bytes);
      first.echo(bytes);
    }
  }

  /** Starts a server that admits one connection that has not registered. */
  private int start() throws IOException {
    Options options = new Options("127.0.0.1", 0, true, false, loops, false, MIB, 30, 1);
    server = model.listen(options, new EchoService(), line -> {});
    new Thread(server::run, "test server").start();
    return server.port();
  }
}
