package org.klatch.server;

import java.io.Closeable;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.function.Consumer;

/** What every model does with a new connection before it serves it. */
final class Door implements Closeable {
  private static final int BACKLOG = 4096;

  /** Takes a connection in. */
  interface Welcome {
    void admit(Socket socket) throws IOException;
  }

  private final ServerSocket listener;
  private final boolean nodelay;
  private final Consumer<String> log;
  private final HalfOpen halfOpen;
  private final String limits = Limits.describe(); // once a limit is hit, no file may open any more

  /**
   * Listens.
   *
   * @param listener not bound yet
   * @param log takes a line when there is trouble
   */
  Door(ServerSocket listener, Options options, Consumer<String> log) throws IOException {
    this.listener = listener;
    this.log = log;
    nodelay = options.nodelay();
    halfOpen = new HalfOpen(options);
    listener.bind(
        new InetSocketAddress(InetAddress.getByName(options.host()), options.port()), BACKLOG);
  }

  int port() {
    return listener.getLocalPort();
  }

  /** Who has come in, but not registered. */
  HalfOpen halfOpen() {
    return halfOpen;
  }

  /** Tells of a connection that could not be served. */
  void tell(String trouble) {
    log.accept(trouble + limits);
  }

  /** Hands every new connection to {@code welcome} until it is closed. */
  void run(Welcome welcome) {
    Thread watch = halfOpen.startWatch();
    while (!listener.isClosed()) {
      try {
        Socket socket = listener.accept();
        socket.setTcpNoDelay(nodelay);
        welcome.admit(socket);
      } catch (IOException e) {
        if (!listener.isClosed()) {
          tell("cannot accept a connection: " + e.getMessage());
          pause();
        }
      }
    }
    watch.interrupt();
  }

  @Override
  public void close() throws IOException {
    listener.close();
  }

  /** Descriptors come back as connections end; asking again at once would only burn the CPU. */
  private static void pause() {
    try {
      Thread.sleep(100);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
