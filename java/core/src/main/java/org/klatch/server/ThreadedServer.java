package org.klatch.server;

import java.io.IOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.ThreadFactory;
import java.util.function.Consumer;
import org.klatch.chat.ServerState;

/** The classic server: two threads for each connection, one blocking write for each delivery. */
final class ThreadedServer implements Server {
  private final Options options;
  private final ServerState state;
  private final ThreadFactory threads;
  private final Door door;

  /**
   * Listens.
   *
   * @param threads makes the receivers and senders
   * @param log takes a line when there is trouble
   * @throws IOException if it cannot listen there
   */
  ThreadedServer(Options options, ServerState state, ThreadFactory threads, Consumer<String> log)
      throws IOException {
    this.options = options;
    this.state = state;
    this.threads = threads;
    door = new Door(new ServerSocket(), options, log);
  }

  @Override
  public int port() {
    return door.port();
  }

  @Override
  public void run() {
    door.run(this::admit);
  }

  /** Stops accepting connections; those that are there are served on. */
  @Override
  public void close() throws IOException {
    door.close();
  }

  private void admit(Socket socket) {
    var connection = new ThreadedConnection(socket, options, state, door.halfOpen(), threads);
    if (!door.halfOpen().enter(connection)) {
      Refusal.send(socket, Refusal.TOO_MANY);
      return;
    }
    try {
      connection.start();
    } catch (OutOfMemoryError noThread) {
      door.halfOpen().left(connection);
      door.tell("closed a connection: " + noThread.getMessage());
    }
  }
}
