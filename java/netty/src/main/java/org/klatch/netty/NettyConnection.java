package org.klatch.netty;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.channel.socket.SocketChannel;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.klatch.server.AdmissionControl;
import org.klatch.server.Options;
import org.klatch.server.Rejection;
import org.klatch.service.ConnectionHandler;
import org.klatch.service.Service;

/** A connection on a Netty channel. All methods but {@link #expire} run in the channel's loop. */
final class NettyConnection extends ChannelInboundHandlerAdapter
    implements AdmissionControl.Connection {
  private static final int GRACE_MS = 1000;

  private final SocketChannel channel;
  private final AdmissionControl admission;
  private final NettySendQueue sendQueue;
  private final Service service;
  private final ConnectionHandler handler;
  private final Runnable onHandled = this::onHandled;
  private boolean registered;
  private String closeReason = "Connection closed"; // changed by an exception
  private boolean ended; // further input is discarded

  NettyConnection(
      SocketChannel channel, Options options, Service service, AdmissionControl admission) {
    this.channel = channel;
    this.admission = admission;
    this.service = service;
    sendQueue = new NettySendQueue(channel, options.sendqBytes(), this::overflow, this::finish);
    handler = service.open(channel.remoteAddress().getAddress().getHostAddress(), sendQueue, 0);
  }

  @Override
  public void expire() {
    channel
        .eventLoop()
        .execute(
            () -> {
              if (!registered) {
                end("Registration timed out");
              }
            });
  }

  @Override
  public void channelActive(ChannelHandlerContext context) {
    if (!admission.admit(this)) {
      ended = true;
      channel
          .writeAndFlush(Unpooled.wrappedBuffer(service.closingLine(Rejection.TOO_MANY)))
          .addListener(ChannelFutureListener.CLOSE);
    }
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    ByteBuf input = (ByteBuf) message;
    try {
      if (!ended) {
        handleInput(input);
      }
    } finally {
      input.release();
    }
  }

  private void handleInput(ByteBuf input) {
    byte[] buffer = handler.buffer();
    while (input.isReadable()) {
      int at = handler.fillAt();
      int count = Math.min(input.readableBytes(), buffer.length - at);
      input.readBytes(buffer, at, count);
      if (!handler.feed(count, onHandled)) {
        end("Quit"); // no effect on the handler, which has ended itself
        return;
      }
    }
  }

  private void onHandled() {
    if (!registered && handler.registered()) {
      registered = true;
      admission.release(this);
    }
  }

  @Override
  public void userEventTriggered(ChannelHandlerContext context, Object event) {
    if (event instanceof ChannelInputShutdownEvent) {
      end(closeReason);
    }
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
    // A failed write raises this while a room still sends a message to its members, so the
    // handler ends in a later task. Until then Netty reports the closed channel, but not the
    // reason.
    closeReason = cause instanceof IOException ? "Connection reset" : "Internal error";
    channel
        .eventLoop()
        .execute(
            () -> {
              end(closeReason);
              channel.close();
            });
  }

  @Override
  public void channelInactive(ChannelHandlerContext context) {
    end(closeReason);
  }

  /** Sends a closing line only for a service that has one: within TLS, a gap makes it invalid. */
  private void overflow() {
    String reason = "SendQ exceeded";
    if (service.closingLine(reason).length > 0) {
      sendQueue.reopenUnbounded();
    }
    end(reason);
  }

  private void end(String reason) {
    ended = true;
    admission.release(this);
    handler.end(reason); // no effect the second time
  }

  /** Flushes the last lines and waits for the client to close, up to 2 * GRACE_MS in all. */
  private void finish() {
    channel.eventLoop().schedule(() -> channel.close(), 2 * GRACE_MS, TimeUnit.MILLISECONDS);
    channel
        .writeAndFlush(Unpooled.EMPTY_BUFFER)
        .addListener(
            out -> {
              if (channel.isInputShutdown()) {
                channel.close();
              } else {
                channel.shutdownOutput();
              }
            });
  }
}
