package org.klatch.server;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;

/** A client of the echo service, for one test thread that reads and one that writes. */
final class EchoClient implements AutoCloseable {
  private final Socket socket = new Socket();

  /** Connects with a small receive buffer, which fills up quickly. */
  EchoClient(int port) throws IOException {
    socket.setReceiveBufferSize(4096);
    socket.setSoTimeout(30_000);
    socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
  }

  /** Returns {@code count} random bytes, the same for the same seed. */
  static byte[] randomBytes(int count, int seed) {
    byte[] bytes = new byte[count];
    new Random(seed).nextBytes(bytes);
    return bytes;
  }

  void send(byte[] bytes) throws IOException {
    socket.getOutputStream().write(bytes);
  }

  /** Sends in another thread, in pieces of 1 to {@code pieceMax} bytes. */
  FutureTask<Void> sendInPieces(byte[] bytes, int pieceMax, int seed) {
    Random random = new Random(seed);
    return inBackground(
        () -> {
          int at = 0;
          while (at < bytes.length) {
            int count = Math.min(1 + random.nextInt(pieceMax), bytes.length - at);
            socket.getOutputStream().write(bytes, at, count);
            at += count;
          }
          return null;
        });
  }

  /** Reads as many bytes as {@code expected} has, at most {@code pieceMax} at a time. */
  void receive(byte[] expected, int pieceMax) throws IOException {
    byte[] received = new byte[expected.length];
    int at = 0;
    while (at < received.length) {
      int count = Math.min(pieceMax, received.length - at);
      count = socket.getInputStream().read(received, at, count);
      assertEquals(1, Integer.signum(count), "the connection ended after " + at + " bytes");
      at += count;
    }
    assertArrayEquals(expected, received);
  }

  void echo(byte[] bytes) throws IOException {
    send(bytes);
    receive(bytes, bytes.length);
  }

  void expectEnd() throws IOException {
    assertEquals(-1, socket.getInputStream().read());
  }

  /** Closes the output; the input stays open. */
  void endOutput() throws IOException {
    socket.shutdownOutput();
  }

  /** Closes with a TCP reset. */
  void reset() throws IOException {
    socket.setSoLinger(true, 0);
    socket.close();
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }

  static FutureTask<Void> inBackground(Callable<Void> work) {
    FutureTask<Void> task = new FutureTask<>(work);
    new Thread(task, "test client").start();
    return task;
  }
}
