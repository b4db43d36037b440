package org.klatch.server;

import java.io.Closeable;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.function.Consumer;

/** The listening socket of every model: accepts connections and sets TCP_NODELAY. */
final class Acceptor implements Closeable {
  private static final int BACKLOG = 4096;

  /** Serves an accepted connection, or rejects it. */
  interface Handler {
    void handle(Socket socket) throws IOException;
  }

  private final ServerSocket listener;
  private final boolean nodelay;
  private final Consumer<String> log;
  private final AdmissionControl admission;
  private final String limits =
      SystemLimits.describe(); // read now: at a limit no file can be opened

  /**
   * Binds the listener.
   *
   * @param listener an unbound socket
   * @param log receives a line for each error
   */
  Acceptor(ServerSocket listener, Options options, Consumer<String> log) throws IOException {
    this.listener = listener;
    this.log = log;
    nodelay = options.nodelay();
    admission = new AdmissionControl(options);
    listener.bind(
        new InetSocketAddress(InetAddress.getByName(options.host()), options.port()), BACKLOG);
  }

  int port() {
    return listener.getLocalPort();
  }

  /** The connections that have not registered. */
  AdmissionControl admission() {
    return admission;
  }

  /** Logs an error that costs a connection, with the system's limits. */
  void report(String error) {
    log.accept(error + limits);
  }

  /** Passes every new connection to {@code handler} until the listener is closed. */
  void run(Handler handler) {
    Thread timer = admission.startTimer();
    while (!listener.isClosed()) {
      try {
        serve(listener.accept(), handler);
      } catch (IOException e) {
        if (!listener.isClosed()) {
          report("cannot accept a connection: " + e.getMessage());
          pause();
        }
      }
    }
    timer.interrupt();
  }

  /** Passes on one connection. Whatever it does must not end the others. */
  private void serve(Socket socket, Handler handler) throws IOException {
    try {
      socket.setTcpNoDelay(nodelay);
      handler.handle(socket);
    } catch (RuntimeException e) {
      report("closed a connection: " + e);
      socket.close();
    }
  }

  @Override
  public void close() throws IOException {
    listener.close();
  }

  /** Waits for connections to end and free descriptors; an immediate retry would only use CPU. */
  private static void pause() {
    try {
      Thread.sleep(100);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
