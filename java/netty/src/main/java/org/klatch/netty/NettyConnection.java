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
import org.klatch.chat.Framer;
import org.klatch.chat.ServerState;
import org.klatch.chat.Session;
import org.klatch.server.HalfOpen;
import org.klatch.server.Options;
import org.klatch.server.Refusal;

/** One connection; all but {@link #expire} happens in its channel's loop. */
final class NettyConnection extends ChannelInboundHandlerAdapter implements HalfOpen.Guest {
  private static final int GRACE_MS = 1000;

  private final SocketChannel channel;
  private final HalfOpen halfOpen;
  private final NettyOutbox outbox;
  private final Session session;
  private final Framer framer = new Framer(2 * Framer.MAX_LINE);
  private boolean registered;
  private String lost = "Connection closed"; // why, when it is
  private boolean over; // the session is; what comes in is discarded

  NettyConnection(SocketChannel channel, Options options, ServerState state, HalfOpen halfOpen) {
    this.channel = channel;
    this.halfOpen = halfOpen;
    outbox = new NettyOutbox(channel, options.sendqBytes(), this::overflow, this::finish);
    session = state.openSession(channel.remoteAddress().getAddress().getHostAddress(), outbox);
  }

  @Override
  public void expire() {
    channel
        .eventLoop()
        .execute(
            () -> {
              if (!session.registered()) {
                end("Registration timed out");
              }
            });
  }

  @Override
  public void channelActive(ChannelHandlerContext context) {
    if (!halfOpen.enter(this)) {
      over = true;
      channel
          .writeAndFlush(Unpooled.wrappedBuffer(Refusal.line(Refusal.TOO_MANY)))
          .addListener(ChannelFutureListener.CLOSE);
    }
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    ByteBuf input = (ByteBuf) message;
    try {
      if (!over) {
        take(input);
      }
    } finally {
      input.release();
    }
  }

  private void take(ByteBuf input) {
    while (input.isReadable()) {
      int at = framer.fillAt();
      int count = Math.min(input.readableBytes(), framer.buffer().length - at);
      input.readBytes(framer.buffer(), at, count);
      framer.filled(count);
      Framer.Event event;
      while ((event = framer.next()) != Framer.Event.NONE) {
        if (!session.handle(event, framer)) {
          end("Quit"); // the session has said so itself
          return;
        }
        if (!registered && session.registered()) {
          registered = true;
          halfOpen.left(this);
        }
      }
    }
  }

  @Override
  public void userEventTriggered(ChannelHandlerContext context, Object event) {
    if (event instanceof ChannelInputShutdownEvent) {
      end(lost);
    }
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
    // A write that fails tells so while a room is still handing its message to the members: later.
    // In between Netty tells that the input is shut or the channel closed, but not why.
    lost = cause instanceof IOException ? "Connection reset" : "Internal error";
    channel
        .eventLoop()
        .execute(
            () -> {
              end(lost);
              channel.close();
            });
  }

  @Override
  public void channelInactive(ChannelHandlerContext context) {
    end(lost);
  }

  private void overflow() {
    outbox.unbind();
    end("SendQ exceeded");
  }

  private void end(String reason) {
    over = true;
    halfOpen.left(this);
    session.end(reason); // only the first time
  }

  /** Lets the last words out and the other side close first, but waits for neither long. */
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
