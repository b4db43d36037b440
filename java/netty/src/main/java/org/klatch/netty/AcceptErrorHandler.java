package org.klatch.netty;

import io.netty.channel.ChannelConfig;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.klatch.server.SystemLimits;

/** Logs that a connection could not be accepted, and then accepts none for 100 ms. */
final class AcceptErrorHandler extends ChannelInboundHandlerAdapter {
  private static final int PAUSE_MS = 100;

  private final Consumer<String> log;
  private final String limits =
      SystemLimits.describe(); // read now: at a limit no file can be opened

  AcceptErrorHandler(Consumer<String> log) {
    this.log = log;
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
    log.accept("cannot accept a connection: " + cause.getMessage() + limits);
    ChannelConfig config = context.channel().config();
    config.setAutoRead(false);
    context
        .channel()
        .eventLoop()
        .schedule(() -> config.setAutoRead(true), PAUSE_MS, TimeUnit.MILLISECONDS);
  }
}
