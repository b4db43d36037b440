package org.klatch.crowd;

import java.io.IOException;
import org.klatch.chat.Identity;
import org.klatch.chat.ServerState;
import org.klatch.server.Options;
import org.klatch.server.Server;
import org.klatch.server.ThreadsModel;

/** The server of model {@code threads} on a free port of 127.0.0.1. */
final class TestServer implements AutoCloseable {
  private final Server server;

  TestServer(boolean yield) throws IOException {
    Options options = new Options("127.0.0.1", 0, true, yield, 1, false, 1 << 20, 30, 4096);
    ServerState state = new ServerState(new Identity("test", "1", "today", "Klatch", "Hello."));
    server = new ThreadsModel().listen(options, state, line -> {});
    new Thread(server::run, "test server").start();
  }

  int port() {
    return server.port();
  }

  @Override
  public void close() throws IOException {
    server.close();
  }
}
