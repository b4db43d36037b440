package org.klatch.adapters;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Set;
import java.util.function.Consumer;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.websocket.api.Callback;
import org.eclipse.jetty.websocket.api.Session;
import org.eclipse.jetty.websocket.server.ServerUpgradeRequest;
import org.eclipse.jetty.websocket.server.ServerUpgradeResponse;
import org.eclipse.jetty.websocket.server.ServerWebSocketContainer;
import org.eclipse.jetty.websocket.server.WebSocketUpgradeHandler;
import org.klatch.server.Model;
import org.klatch.server.Options;
import org.klatch.server.Server;
import org.klatch.service.Service;
import org.klatch.web.Failures;
import org.klatch.web.WebServerOptions;

/** The model {@code jetty-ws}: chat in Jetty's pool of threads, with its WebSocket. */
public final class JettyWebSocketModel implements Model {
  @Override
  public String name() {
    return "jetty-ws";
  }

  @Override
  public Set<String> knobs() {
    return Set.of();
  }

  @Override
  public boolean hasWebSocket() {
    return true;
  }

  @Override
  public Server listen(Options options, Service service, Consumer<String> log) throws IOException {
    ChatSockets sockets = new ChatSockets(service, options);
    var server = new org.eclipse.jetty.server.Server();
    var connector = new ServerConnector(server);
    connector.setHost(options.host());
    connector.setPort(options.port());
    connector.setAcceptQueueSize(WebServerOptions.BACKLOG);
    connector.setAcceptedTcpNoDelay(options.nodelay());
    connector.setIdleTimeout(0); // none
    server.addConnector(connector);
    server.setHandler(WebSocketUpgradeHandler.from(server, all -> configure(all, sockets)));
    try {
      server.start();
    } catch (Exception e) {
      throw Failures.listening(e);
    }
    return sockets.started(connector.getLocalPort(), () -> Failures.closing(server::stop));
  }

  private static void configure(ServerWebSocketContainer container, ChatSockets sockets) {
    container.setIdleTimeout(Duration.ZERO); // none
    container.setMaxTextMessageSize(ChatSockets.MAX_MESSAGE);
    container.setMaxBinaryMessageSize(ChatSockets.MAX_MESSAGE);
    container.addMapping("/*", (request, response, callback) -> accept(request, response, sockets));
  }

  private static Messages accept(
      ServerUpgradeRequest request, ServerUpgradeResponse response, ChatSockets sockets) {
    String subprotocol = ChatSockets.choose(request.getSubProtocols());
    if (!subprotocol.isEmpty()) {
      response.setAcceptedSubProtocol(subprotocol);
    }
    return new Messages(sockets, ChatSockets.isBinary(subprotocol));
  }

  /** Receives the events of a session. Jetty needs a public class. */
  public static final class Messages extends Session.Listener.AbstractAutoDemanding {
    private final ChatSockets sockets;
    private final boolean binary;
    private Socket socket; // null until it is open

    Messages(ChatSockets sockets, boolean binary) {
      this.sockets = sockets;
      this.binary = binary;
    }

    @Override
    public void onWebSocketOpen(Session session) {
      super.onWebSocketOpen(session);
      socket = new Socket(sockets, session, binary);
      socket.opened();
    }

    @Override
    public void onWebSocketText(String message) {
      socket.receive(message.getBytes(UTF_8));
    }

    @Override
    public void onWebSocketBinary(ByteBuffer message, Callback callback) {
      byte[] copy = new byte[message.remaining()];
      message.get(copy);
      callback.succeed();
      socket.receive(copy);
    }

    /** Does nothing, where Jetty would log a warning: {@link #onWebSocketClose} follows. */
    @Override
    public void onWebSocketError(Throwable error) {}

    @Override
    public void onWebSocketClose(int code, String reason, Callback callback) {
      callback.succeed();
      if (socket != null) { // the client was gone before it was open
        socket.lost();
      }
    }
  }

  private static final class Socket extends ChatSocket {
    private final Session session;
    private final boolean binary;
    private final Callback onWritten = Callback.from(this::written, error -> lost());

    Socket(ChatSockets server, Session session, boolean binary) {
      super(server, host(session));
      this.session = session;
      this.binary = binary;
    }

    private static String host(Session session) {
      var address = (InetSocketAddress) session.getRemoteSocketAddress();
      return address.getAddress().getHostAddress();
    }

    @Override
    void write(byte[] line, int size) {
      if (binary) {
        session.sendBinary(ByteBuffer.wrap(line, 0, size), onWritten);
      } else {
        session.sendText(text(line, size), onWritten);
      }
    }

    @Override
    void closeWith(int code) {
      session.close(code, null, Callback.NOOP);
    }

    @Override
    void abort() {
      session.disconnect();
    }
  }
}
