package org.klatch.server;

import java.io.IOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.ThreadFactory;
import java.util.function.Consumer;
import org.klatch.chat.ServerState;

/** A server with two threads for each connection and one blocking write for each delivery. */
final class ThreadedServer implements Server {
  private final Options options;
  private final ServerState state;
  private final ThreadFactory threads;
  private final Acceptor acceptor;

  /**
   * Binds the listener.
   *
   * @param threads creates the receiver and sender threads
   * @param log receives a line for each error
   * @throws IOException if the address cannot be bound
   */
  ThreadedServer(Options options, ServerState state, ThreadFactory threads, Consumer<String> log)
      throws IOException {
    this.options = options;
    this.state = state;
    this.threads = threads;
    acceptor = new Acceptor(new ServerSocket(), options, log);
  }

  @Override
  public int port() {
    return acceptor.port();
  }

  @Override
  public void run() {
    acceptor.run(this::admit);
  }

  /** Stops accepting connections; open ones are still served. */
  @Override
  public void close() throws IOException {
    acceptor.close();
  }

  private void admit(Socket socket) {
    var connection = new ThreadedConnection(socket, options, state, acceptor.admission(), threads);
    if (!acceptor.admission().admit(connection)) {
      Rejection.reject(socket, Rejection.TOO_MANY);
      return;
    }
    try {
      connection.start();
    } catch (OutOfMemoryError noThread) {
      acceptor.admission().release(connection);
      acceptor.report("closed a connection: " + noThread.getMessage());
    }
  }
}
