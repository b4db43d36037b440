package org.klatch.netty;

import io.netty.channel.ChannelPipeline;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.websocketx.WebSocketFrameAggregator;
import io.netty.handler.codec.http.websocketx.WebSocketServerProtocolConfig;
import io.netty.handler.codec.http.websocketx.WebSocketServerProtocolHandler;
import java.io.IOException;
import java.util.Set;
import java.util.function.Consumer;
import org.klatch.server.Model;
import org.klatch.server.Options;
import org.klatch.server.Server;
import org.klatch.service.Service;

/** The model {@code netty-ws}: that of {@code netty}, with Netty's own handlers for WebSocket. */
public final class NettyWebSocketModel implements Model {
  private static final int MAX_HEAD = 8 * 1024;
  private static final int MAX_MESSAGE = 16 * 1024;

  @Override
  public String name() {
    return "netty-ws";
  }

  @Override
  public Set<String> knobs() {
    return Set.of("loops", "io");
  }

  @Override
  public boolean hasWebSocket() {
    return true;
  }

  @Override
  public Server listen(Options options, Service service, Consumer<String> log) throws IOException {
    return new NettyServer(options, service, NettyWebSocketModel::addCodec, log);
  }

  private static void addCodec(ChannelPipeline pipeline) {
    var config =
        WebSocketServerProtocolConfig.newBuilder()
            .websocketPath("/")
            .checkStartsWith(true)
            .subprotocols("text.ircv3.net,binary.ircv3.net")
            .maxFramePayloadLength(MAX_MESSAGE)
            .build();
    pipeline.addLast(
        new HttpServerCodec(),
        new HttpObjectAggregator(MAX_HEAD),
        new WebSocketServerProtocolHandler(config),
        new WebSocketFrameAggregator(MAX_MESSAGE),
        new MessageLines());
  }
}
