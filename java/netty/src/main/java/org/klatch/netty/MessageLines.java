package org.klatch.netty;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.http.websocketx.BinaryWebSocketFrame;
import io.netty.handler.codec.http.websocketx.CloseWebSocketFrame;
import io.netty.handler.codec.http.websocketx.TextWebSocketFrame;
import io.netty.handler.codec.http.websocketx.WebSocketCloseStatus;
import io.netty.handler.codec.http.websocketx.WebSocketFrame;
import io.netty.handler.codec.http.websocketx.WebSocketServerProtocolHandler.HandshakeComplete;
import io.netty.util.ByteProcessor;
import io.netty.util.ReferenceCountUtil;
import java.nio.charset.StandardCharsets;

/** Turns messages into lines with CR LF, and lines into messages. */
final class MessageLines extends ChannelDuplexHandler {
  private static final int LINE_END = 0x0d0a; // CR LF

  private boolean open;
  private boolean binary;

  @Override
  public void userEventTriggered(ChannelHandlerContext context, Object event) throws Exception {
    if (event instanceof HandshakeComplete handshake) {
      open = true;
      binary = "binary.ircv3.net".equals(handshake.selectedSubprotocol());
    }
    super.userEventTriggered(context, event);
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    try {
      if (message instanceof TextWebSocketFrame || message instanceof BinaryWebSocketFrame) {
        receive(context, ((WebSocketFrame) message).content());
      }
    } finally {
      ReferenceCountUtil.release(message);
    }
  }

  private static void receive(ChannelHandlerContext context, ByteBuf message) {
    if (message.forEachByte(ByteProcessor.FIND_CRLF) >= 0) {
      var policy = new CloseWebSocketFrame(WebSocketCloseStatus.POLICY_VIOLATION);
      context.writeAndFlush(policy).addListener(ChannelFutureListener.CLOSE);
      return;
    }
    ByteBuf line = context.alloc().buffer(message.readableBytes() + 2);
    context.fireChannelRead(line.writeBytes(message).writeShort(LINE_END));
  }

  /** Drops lines before the handshake. The connection's last write is an empty buffer. */
  @Override
  public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) {
    if (!(message instanceof ByteBuf line)) {
      context.write(message, promise); // of Netty's own handlers
    } else if (!open) {
      line.release();
      promise.unvoid().trySuccess();
    } else if (line.isReadable()) {
      context.write(message(context, line.writerIndex(line.writerIndex() - 2)), promise);
    } else {
      line.release();
      context.write(new CloseWebSocketFrame(WebSocketCloseStatus.NORMAL_CLOSURE), promise);
    }
  }

  private WebSocketFrame message(ChannelHandlerContext context, ByteBuf line) {
    if (binary) {
      return new BinaryWebSocketFrame(line);
    }
    if (ByteBufUtil.isText(line, StandardCharsets.UTF_8)) {
      return new TextWebSocketFrame(line);
    }
    String replaced = line.toString(StandardCharsets.UTF_8);
    line.release();
    return new TextWebSocketFrame(ByteBufUtil.writeUtf8(context.alloc(), replaced));
  }
}
