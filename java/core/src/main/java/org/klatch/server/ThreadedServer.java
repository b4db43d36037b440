package org.klatch.server;

import java.io.IOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.ThreadFactory;
import java.util.function.Consumer;
import org.klatch.service.Service;

/**
 * A server with two threads for each connection and one blocking write for each delivery. One
 * thread is enough for a service that only replies.
 */
final class ThreadedServer implements Server {
  private final Options options;
  private final Service service;
  private final ThreadFactory threads;
  private final Acceptor acceptor;
  private final WriteWatch watch;

  /**
   * Binds the listener.
   *
   * @param threads creates the threads of connections
   * @param log receives a line for each error
   * @throws IOException if the address cannot be bound
   */
  ThreadedServer(Options options, Service service, ThreadFactory threads, Consumer<String> log)
      throws IOException {
    this.options = options;
    this.service = service;
    this.threads = threads;
    acceptor = new Acceptor(new ServerSocket(), options, log);
    watch = new WriteWatch(options);
  }

  @Override
  public int port() {
    return acceptor.port();
  }

  @Override
  public void run() {
    Thread looker = watch.start();
    acceptor.run(this::admit);
    looker.interrupt();
  }

  /** Stops accepting connections; open ones are still served. */
  @Override
  public void close() throws IOException {
    acceptor.close();
  }

  private void admit(Socket socket) {
    try {
      if (service.repliesOnly()) {
        var admission = acceptor.admission();
        new SingleThreadConnection(socket, service, admission, watch, threads).start();
      } else {
        admitHalfOpen(socket);
      }
    } catch (OutOfMemoryError noThread) {
      acceptor.report("closed a connection: " + noThread.getMessage());
    }
  }

  private void admitHalfOpen(Socket socket) {
    AdmissionControl admission = acceptor.admission();
    var connection = new ThreadedConnection(socket, options, service, admission, watch, threads);
    if (!admission.admit(connection)) {
      Rejection.reject(socket, service.closingLine(Rejection.TOO_MANY));
      return;
    }
    connection.start();
  }
}
