package org.klatch.adapters;

import static java.nio.charset.StandardCharsets.UTF_8;

import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.websocket.CloseReason;
import jakarta.websocket.DeploymentException;
import jakarta.websocket.Endpoint;
import jakarta.websocket.EndpointConfig;
import jakarta.websocket.MessageHandler;
import jakarta.websocket.SendHandler;
import jakarta.websocket.Session;
import jakarta.websocket.server.ServerContainer;
import jakarta.websocket.server.ServerEndpointConfig;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.apache.catalina.LifecycleException;
import org.apache.catalina.core.StandardContext;
import org.apache.catalina.startup.Tomcat;
import org.apache.tomcat.websocket.Constants;
import org.apache.tomcat.websocket.server.WsContextListener;
import org.apache.tomcat.websocket.server.WsServerContainer;
import org.klatch.server.Model;
import org.klatch.server.Options;
import org.klatch.server.Server;
import org.klatch.service.Service;
import org.klatch.web.Failures;
import org.klatch.web.ThreadKind;
import org.klatch.web.WebServerOptions;
import org.klatch.websocket.Subprotocol;

/** The model {@code tomcat-ws}: chat in Tomcat's pool of threads, with its WebSocket. */
public final class TomcatWebSocketModel implements Model {
  private static final int POOL = 200;

  /** Time that a client has to answer a close frame. */
  private static final long CLOSE_TIMEOUT_MS = 2000;

  @Override
  public String name() {
    return "tomcat-ws";
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
    Path folder = Files.createTempDirectory("klatch-tomcat");
    Tomcat tomcat = new Tomcat();
    tomcat.setBaseDir(folder.toString());
    tomcat.setConnector(
        TomcatAdapter.connector(
            new WebServerOptions(options.host(), options.port(), ThreadKind.PLATFORM, POOL)));
    TomcatAdapter.set(tomcat.getConnector(), "tcpNoDelay", options.nodelay());
    StandardContext context = (StandardContext) tomcat.addContext("", folder.toString());
    context.setClearReferencesThreadLocals(false);
    context.setClearReferencesRmiTargets(false);
    context.addApplicationListener(WsContextListener.class.getName());
    Tomcat.addServlet(context, "upgrade", new Upgrade(sockets)).addMapping("/");
    try {
      tomcat.start();
    } catch (LifecycleException e) {
      throw Failures.listening(e);
    }
    int port = tomcat.getConnector().getLocalPort();
    return sockets.started(port, () -> Failures.closing(tomcat::stop));
  }

  /** Upgrades requests of any path, with an endpoint that has the client's address. */
  private static final class Upgrade extends HttpServlet {
    private static final long serialVersionUID = 1;

    private final transient ChatSockets sockets;

    Upgrade(ChatSockets sockets) {
      this.sockets = sockets;
    }

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response)
        throws IOException, ServletException {
      var container =
          (WsServerContainer) getServletContext().getAttribute(ServerContainer.class.getName());
      container.setProcessPeriod(1); // seconds between two looks at time-outs
      Chat chat = new Chat(sockets, request.getRemoteAddr());
      ServerEndpointConfig config =
          ServerEndpointConfig.Builder.create(Chat.class, "/")
              .subprotocols(List.of(Subprotocol.TEXT.wireName, Subprotocol.BINARY.wireName))
              .configurator(new Configurator(chat))
              .build();
      try {
        container.upgradeHttpToWebSocket(request, response, config, Map.of());
      } catch (DeploymentException e) {
        throw new ServletException(e);
      }
    }
  }

  private static final class Configurator extends ServerEndpointConfig.Configurator {
    private final Chat chat;

    Configurator(Chat chat) {
      this.chat = chat;
    }

    @Override
    public <T> T getEndpointInstance(Class<T> type) {
      return type.cast(chat);
    }

    @Override
    public String getNegotiatedSubprotocol(List<String> supported, List<String> requested) {
      return ChatSockets.choose(requested);
    }
  }

  private static final class Chat extends Endpoint {
    private final ChatSockets sockets;
    private final String host;
    private Socket socket; // null until it is open

    Chat(ChatSockets sockets, String host) {
      this.sockets = sockets;
      this.host = host;
    }

    @Override
    public void onOpen(Session session, EndpointConfig config) {
      session.setMaxIdleTimeout(0); // none
      session.getUserProperties().put(Constants.SESSION_CLOSE_TIMEOUT_PROPERTY, CLOSE_TIMEOUT_MS);
      session.setMaxTextMessageBufferSize(ChatSockets.MAX_MESSAGE);
      session.setMaxBinaryMessageBufferSize(ChatSockets.MAX_MESSAGE);
      socket = new Socket(sockets, host, session);
      session.addMessageHandler(
          String.class,
          (MessageHandler.Whole<String>) text -> socket.receive(text.getBytes(UTF_8)));
      session.addMessageHandler(
          byte[].class, (MessageHandler.Whole<byte[]>) bytes -> socket.receive(bytes));
      socket.opened();
    }

    @Override
    public void onClose(Session session, CloseReason reason) {
      if (socket != null) { // the client was gone before it was open
        socket.lost();
      }
    }
  }

  private static final class Socket extends ChatSocket {
    private final Session session;
    private final boolean binary;
    private final SendHandler onWritten;

    Socket(ChatSockets server, String host, Session session) {
      super(server, host);
      this.session = session;
      binary = ChatSockets.isBinary(session.getNegotiatedSubprotocol());
      onWritten =
          result -> {
            if (result.isOK()) {
              written();
            } else {
              lost();
            }
          };
    }

    @Override
    void write(byte[] line, int size) {
      if (binary) {
        ByteBuffer copy = ByteBuffer.wrap(Arrays.copyOf(line, size));
        session.getAsyncRemote().sendBinary(copy, onWritten);
      } else {
        session.getAsyncRemote().sendText(text(line, size), onWritten);
      }
    }

    @Override
    void closeWith(int code) {
      try {
        session.close(new CloseReason(CloseReason.CloseCodes.getCloseCode(code), ""));
      } catch (IOException e) {
        // it is closed already
      }
    }

    @Override
    void abort() {
      closeWith(CloseReason.CloseCodes.GOING_AWAY.getCode());
    }
  }
}
