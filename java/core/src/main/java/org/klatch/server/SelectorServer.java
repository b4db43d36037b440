package org.klatch.server;

import java.io.IOException;
import java.net.Socket;
import java.nio.channels.ServerSocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.klatch.chat.ServerState;

/** Event loops, each with a thread of its own; connections are spread over them in turn. */
final class SelectorServer implements Server {
  private final Options options;
  private final ServerState state;
  private final Door door;
  private final List<EventLoop> loops = new ArrayList<>();
  private int accepted;

  /**
   * Listens.
   *
   * @param log takes a line when there is trouble
   * @throws IOException if it cannot listen there
   */
  SelectorServer(Options options, ServerState state, Consumer<String> log) throws IOException {
    this.options = options;
    this.state = state;
    door = new Door(ServerSocketChannel.open().socket(), options, log);
    for (int i = 0; i < options.loops(); i++) {
      loops.add(new EventLoop());
    }
  }

  @Override
  public int port() {
    return door.port();
  }

  @Override
  public void run() {
    for (int i = 0; i < loops.size(); i++) {
      EventLoop loop = loops.get(i);
      Thread thread = new Thread(() -> run(loop), "loop " + i);
      thread.setDaemon(true); // the server ends with its door
      thread.start();
    }
    door.run(this::admit);
    loops.forEach(EventLoop::stop);
  }

  @Override
  public void close() throws IOException {
    door.close();
  }

  private void admit(Socket socket) {
    EventLoop loop = loops.get(accepted++ % loops.size());
    var connection = new LoopConnection(socket, options, state, door.halfOpen(), loop);
    if (door.halfOpen().enter(connection)) {
      connection.note();
    } else {
      Refusal.send(socket, Refusal.TOO_MANY);
    }
  }

  /** A loop that fails ends the server: its connections would be silent. */
  private void run(EventLoop loop) {
    try {
      loop.run();
    } catch (IOException failed) {
      door.tell("an event loop failed: " + failed.getMessage());
      closeQuietly();
    }
  }

  private void closeQuietly() {
    try {
      close();
    } catch (IOException e) {
      // then it is closed
    }
  }
}
