package org.klatch.server;

import java.io.Closeable;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.ThreadFactory;
import java.util.function.Consumer;
import org.klatch.chat.Hall;

/** The classic server: two threads for each connection, one blocking write for each delivery. */
public final class ThreadedServer implements Closeable {
  private static final int BACKLOG = 4096;

  private final Options options;
  private final Hall hall;
  private final ThreadFactory threads;
  private final Consumer<String> log;
  private final HalfOpen halfOpen;
  private final ServerSocket listener = new ServerSocket();
  private final String limits = Limits.describe(); // once a limit is hit, no file may open any more

  /**
   * Listens; connections are accepted from {@link #run} on.
   *
   * @param threads makes the receivers and senders
   * @param log takes a line when there is trouble
   * @throws IOException if it cannot listen there
   */
  public ThreadedServer(Options options, Hall hall, ThreadFactory threads, Consumer<String> log)
      throws IOException {
    this.options = options;
    this.hall = hall;
    this.threads = threads;
    this.log = log;
    halfOpen = new HalfOpen(options.halfOpenMax(), options.registrationTimeoutS());
    listener.bind(
        new InetSocketAddress(InetAddress.getByName(options.host()), options.port()), BACKLOG);
  }

  /** The port it listens on. */
  public int port() {
    return listener.getLocalPort();
  }

  /** Accepts connections until it is closed. */
  public void run() {
    Thread watch = new Thread(halfOpen::watch, "registration watch");
    watch.setDaemon(true);
    watch.start();
    while (!listener.isClosed()) {
      try {
        admit(listener.accept());
      } catch (IOException e) {
        if (!listener.isClosed()) {
          log.accept("cannot accept a connection: " + e.getMessage() + limits);
          pause();
        }
      }
    }
    watch.interrupt();
  }

  /** Stops accepting connections. */
  @Override
  public void close() throws IOException {
    listener.close();
  }

  private void admit(Socket socket) throws IOException {
    if (halfOpen.full()) {
      Refusal.send(socket, "Too many unregistered connections");
      return;
    }
    socket.setTcpNoDelay(true);
    Connection connection = new Connection(socket, options, hall, halfOpen, threads);
    halfOpen.entered(connection);
    try {
      connection.start();
    } catch (OutOfMemoryError noThread) {
      halfOpen.left(connection);
      log.accept("closed a connection: " + noThread.getMessage() + limits);
    }
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
