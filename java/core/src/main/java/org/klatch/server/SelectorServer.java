package org.klatch.server;

import java.io.IOException;
import java.net.Socket;
import java.nio.channels.ServerSocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.klatch.service.Service;

/** Event loops, each on its own thread; connections are assigned to them in turn. */
final class SelectorServer implements Server {
  private final Options options;
  private final Service service;
  private final Acceptor acceptor;
  private final List<EventLoop> loops = new ArrayList<>();
  private int accepted;

  /**
   * Binds the listener and opens the selectors.
   *
   * @param log receives a line for each error
   * @throws IOException if the address cannot be bound
   */
  SelectorServer(Options options, Service service, Consumer<String> log) throws IOException {
    this.options = options;
    this.service = service;
    acceptor = new Acceptor(ServerSocketChannel.open().socket(), options, log);
    for (int i = 0; i < options.loops(); i++) {
      loops.add(new EventLoop());
    }
  }

  @Override
  public int port() {
    return acceptor.port();
  }

  @Override
  public void run() {
    for (int i = 0; i < loops.size(); i++) {
      EventLoop loop = loops.get(i);
      Thread thread = new Thread(() -> run(loop), "loop " + i);
      thread.setDaemon(true); // the server ends when its acceptor does
      thread.start();
    }
    acceptor.run(this::admit);
    loops.forEach(EventLoop::stop);
  }

  @Override
  public void close() throws IOException {
    acceptor.close();
  }

  private void admit(Socket socket) {
    EventLoop loop = loops.get(accepted++ % loops.size());
    var connection = new LoopConnection(socket, options, service, acceptor.admission(), loop);
    if (connection.registered() || acceptor.admission().admit(connection)) {
      connection.markDirty();
    } else {
      Rejection.reject(socket, service.closingLine(Rejection.TOO_MANY));
    }
  }

  /** Runs a loop. A loop that fails ends the server, because its connections would hang. */
  private void run(EventLoop loop) {
    try {
      loop.run();
    } catch (IOException | RuntimeException failed) {
      acceptor.report("an event loop failed: " + failed.getMessage());
      closeQuietly();
    }
  }

  private void closeQuietly() {
    try {
      close();
    } catch (IOException e) {
      // the acceptor ends either way
    }
  }
}
