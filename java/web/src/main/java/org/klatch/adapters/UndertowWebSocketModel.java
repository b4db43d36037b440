package org.klatch.adapters;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.undertow.Undertow;
import io.undertow.websockets.WebSocketConnectionCallback;
import io.undertow.websockets.WebSocketProtocolHandshakeHandler;
import io.undertow.websockets.core.AbstractReceiveListener;
import io.undertow.websockets.core.BufferedBinaryMessage;
import io.undertow.websockets.core.BufferedTextMessage;
import io.undertow.websockets.core.WebSocketCallback;
import io.undertow.websockets.core.WebSocketChannel;
import io.undertow.websockets.core.WebSockets;
import io.undertow.websockets.core.protocol.version13.Hybi13Handshake;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.klatch.server.Model;
import org.klatch.server.Options;
import org.klatch.server.Server;
import org.klatch.service.Service;
import org.klatch.web.Failures;
import org.klatch.web.WebServerOptions;
import org.klatch.websocket.Subprotocol;
import org.xnio.IoUtils;

/** The model {@code undertow-ws}: chat in the event loops of Undertow, with its WebSocket. */
public final class UndertowWebSocketModel implements Model {
  @Override
  public String name() {
    return "undertow-ws";
  }

  @Override
  public Set<String> knobs() {
    return Set.of("loops");
  }

  @Override
  public boolean hasWebSocket() {
    return true;
  }

  @Override
  public Server listen(Options options, Service service, Consumer<String> log) throws IOException {
    ChatSockets sockets = new ChatSockets(service, options);
    var handshake =
        new Hybi13Handshake(Set.of(Subprotocol.TEXT.wireName, Subprotocol.BINARY.wireName), false);
    WebSocketConnectionCallback onConnect =
        (exchange, channel) -> new Socket(sockets, channel).listen();
    var handler = new WebSocketProtocolHandshakeHandler(List.of(handshake), onConnect);
    Undertow undertow =
        Undertow.builder()
            .addHttpListener(options.port(), options.host())
            .setIoThreads(options.loops())
            .setSocketOption(org.xnio.Options.BACKLOG, WebServerOptions.BACKLOG)
            .setSocketOption(org.xnio.Options.TCP_NODELAY, options.nodelay())
            .setHandler(handler)
            .build();
    try {
      undertow.start();
    } catch (RuntimeException e) {
      throw Failures.listening(e);
    }
    var address = (InetSocketAddress) undertow.getListenerInfo().get(0).getAddress();
    return sockets.started(address.getPort(), undertow::stop);
  }

  private static final class Socket extends ChatSocket {
    private final WebSocketChannel channel;
    private final boolean binary;
    private final WebSocketCallback<Void> onWritten =
        new WebSocketCallback<>() {
          @Override
          public void complete(WebSocketChannel channel, Void nothing) {
            written();
          }

          @Override
          public void onError(WebSocketChannel channel, Void nothing, Throwable error) {
            lost();
          }
        };

    Socket(ChatSockets server, WebSocketChannel channel) {
      super(server, channel.getSourceAddress().getAddress().getHostAddress());
      this.channel = channel;
      binary = ChatSockets.isBinary(channel.getSubProtocol());
    }

    void listen() {
      channel.addCloseTask(closed -> lost());
      channel.getReceiveSetter().set(new Messages(this));
      opened();
      channel.resumeReceives();
    }

    @Override
    void write(byte[] line, int size) {
      if (binary) {
        WebSockets.sendBinary(ByteBuffer.wrap(line, 0, size), channel, onWritten);
      } else {
        WebSockets.sendText(text(line, size), channel, onWritten);
      }
    }

    @Override
    void closeWith(int code) {
      WebSockets.sendClose(code, "", channel, null);
    }

    @Override
    void abort() {
      IoUtils.safeClose(channel);
    }
  }

  private static final class Messages extends AbstractReceiveListener {
    private final Socket socket;

    Messages(Socket socket) {
      this.socket = socket;
    }

    @Override
    protected long getMaxTextBufferSize() {
      return ChatSockets.MAX_MESSAGE;
    }

    @Override
    protected long getMaxBinaryBufferSize() {
      return ChatSockets.MAX_MESSAGE;
    }

    @Override
    protected void onFullTextMessage(WebSocketChannel channel, BufferedTextMessage message) {
      socket.receive(message.getData().getBytes(UTF_8));
    }

    @Override
    protected void onFullBinaryMessage(WebSocketChannel channel, BufferedBinaryMessage message) {
      try (var data = message.getData()) {
        ByteBuffer bytes = WebSockets.mergeBuffers(data.getResource());
        byte[] copy = new byte[bytes.remaining()];
        bytes.get(copy);
        socket.receive(copy);
      }
    }
  }
}
