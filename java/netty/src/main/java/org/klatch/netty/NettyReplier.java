package org.klatch.netty;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.channel.socket.SocketChannel;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.klatch.server.Options;
import org.klatch.service.ConnectionHandler;
import org.klatch.service.Outbox;
import org.klatch.service.Service;

/**
 * A connection on a Netty channel, for a service that only replies. All methods run in the
 * channel's loop. Replies are flushed when all received bytes are handled. The channel reads
 * nothing while more than the limit of a send queue is unsent.
 */
final class NettyReplier extends ChannelInboundHandlerAdapter implements Outbox {
  private static final int GRACE_MS = 1000;

  private final SocketChannel channel;
  private final ConnectionHandler handler;
  private ByteBuf input; // while it is handled
  private ByteBuffer view; // of the input
  private String closeReason = "Connection closed"; // changed by an exception
  private final int requestTimeoutS;
  private Future<?> requestTimeout; // null between requests
  private long incomplete; // number of the request that it is for, or 0
  private boolean ended;

  NettyReplier(SocketChannel channel, Service service, Options options) {
    this.channel = channel;
    requestTimeoutS = options.registrationTimeoutS();
    handler = service.open(channel.remoteAddress().getAddress().getHostAddress(), this, 0);
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    input = (ByteBuf) message;
    try {
      view = input.internalNioBuffer(input.readerIndex(), input.readableBytes());
      if (!ended && !handler.feed(view, () -> {})) {
        end();
      }
      followRequest();
    } finally {
      input.release();
    }
    if (!channel.isWritable()) {
      channel.config().setAutoRead(false);
    }
  }

  /** Limits the time of a request that is incomplete. */
  private void followRequest() {
    long number = ended ? 0 : handler.incompleteRequest();
    if (number == incomplete) {
      return;
    }
    incomplete = number;
    if (requestTimeout != null) {
      requestTimeout.cancel(false);
      requestTimeout = null;
    }
    if (number != 0) {
      requestTimeout =
          channel.eventLoop().schedule(this::expireRequest, requestTimeoutS, TimeUnit.SECONDS);
    }
  }

  private void expireRequest() {
    requestTimeout = null;
    handler.expire("Request timed out");
    end();
  }

  @Override
  public void channelReadComplete(ChannelHandlerContext context) {
    channel.flush();
  }

  @Override
  public void channelWritabilityChanged(ChannelHandlerContext context) {
    if (channel.isWritable()) {
      channel.config().setAutoRead(true);
    }
  }

  @Override
  public void send(byte[] line) {
    channel.write(
        channel.alloc().directBuffer(line.length).writeBytes(line), channel.voidPromise());
  }

  /** Writes Netty's own buffer if the whole input is the reply. Otherwise copies the reply. */
  @Override
  public void reply(ByteBuffer bytes) {
    if (bytes.remaining() == input.readableBytes() && bytes.equals(view)) {
      bytes.position(bytes.limit());
      channel.write(input.retain(), channel.voidPromise());
    } else {
      Outbox.super.reply(bytes);
    }
  }

  /** Closes when the replies are written. A client that does not read has no deadline. */
  @Override
  public void close() {
    channel.writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(out -> finish());
  }

  /** Lets the client close first: closing with unread bytes would reset the connection. */
  private void finish() {
    if (channel.isInputShutdown()) {
      channel.close();
      return;
    }
    channel.shutdownOutput();
    channel.eventLoop().schedule(() -> channel.close(), GRACE_MS, TimeUnit.MILLISECONDS);
  }

  @Override
  public void userEventTriggered(ChannelHandlerContext context, Object event) {
    if (event instanceof ChannelInputShutdownEvent) {
      if (channel.isOutputShutdown()) {
        channel.close();
      }
      end();
    }
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
    closeReason = cause instanceof IOException ? "Connection reset" : "Internal error";
    end();
    channel.close();
  }

  @Override
  public void channelInactive(ChannelHandlerContext context) {
    end();
  }

  private void end() {
    if (!ended) {
      ended = true;
      handler.end(closeReason);
      followRequest();
    }
  }
}
