package org.klatch.crowd;

import java.io.IOException;
import org.klatch.chat.Identity;
import org.klatch.chat.ServerState;
import org.klatch.server.Options;
import org.klatch.server.Server;
import org.klatch.server.ThreadsModel;
import org.klatch.service.Service;
import org.klatch.websocket.WebSocketService;

/** The server of model {@code threads} on a free port of 127.0.0.1. */
final class TestServer implements AutoCloseable {
  private final Server server;

  TestServer(boolean yield) throws IOException {
    this(yield, chat());
  }

  private TestServer(boolean yield, Service service) throws IOException {
    Options options = new Options("127.0.0.1", 0, true, yield, 1, false, 1 << 20, 30, 4096);
    server = new ThreadsModel().listen(options, service, line -> {});
    new Thread(server::run, "test server").start();
  }

  /** Starts a server of lines over WebSocket. */
  static TestServer ofWebSocket() throws IOException {
    return new TestServer(false, new WebSocketService(chat()));
  }

  private static Service chat() {
    return new ServerState(new Identity("test", "1", "today", "Klatch", "Hello."));
  }

  int port() {
    return server.port();
  }

  @Override
  public void close() throws IOException {
    server.close();
  }
}
