package org.klatch.netty;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.ServerChannel;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollChannelOption;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.function.Consumer;
import org.klatch.server.AdmissionControl;
import org.klatch.server.OptionRefused;
import org.klatch.server.Options;
import org.klatch.server.Server;
import org.klatch.service.Service;

/**
 * A server on Netty's native epoll transport where that loads, else on NIO. Its ready line names
 * the one.
 */
final class NettyServer implements Server {
  private static final int BACKLOG = 4096;

  private final EventLoopGroup acceptor;
  private final EventLoopGroup loops;
  private final AdmissionControl admission;
  private final boolean epoll;
  private final Channel listener;

  /**
   * Binds the listener.
   *
   * @param addCodec adds what a pipeline has before the connection's handler
   * @param log receives a line for each error
   * @throws IOException if the address cannot be bound
   * @throws OptionRefused if epoll is asked for and does not load
   */
  NettyServer(
      Options options, Service service, Consumer<ChannelPipeline> addCodec, Consumer<String> log)
      throws IOException {
    epoll = useEpoll(options.io(), log);
    IoHandlerFactory transport = epoll ? EpollIoHandler.newFactory() : NioIoHandler.newFactory();
    Class<? extends ServerChannel> kind =
        epoll ? EpollServerSocketChannel.class : NioServerSocketChannel.class;
    InetSocketAddress address =
        new InetSocketAddress(InetAddress.getByName(options.host()), options.port());
    admission = new AdmissionControl(options);
    acceptor = new MultiThreadIoEventLoopGroup(1, transport);
    loops = new MultiThreadIoEventLoopGroup(options.loops(), transport);
    ChannelFuture bound =
        new ServerBootstrap()
            .group(acceptor, loops)
            .channel(kind)
            .option(ChannelOption.SO_BACKLOG, BACKLOG)
            .handler(new AcceptErrorHandler(log))
            .childOption(ChannelOption.TCP_NODELAY, options.nodelay())
            .childOption(ChannelOption.ALLOW_HALF_CLOSURE, true)
            .childOption(
                ChannelOption.WRITE_BUFFER_WATER_MARK,
                new WriteBufferWaterMark(options.sendqBytes() / 2, options.sendqBytes()))
            .childHandler(
                new ChannelInitializer<SocketChannel>() {
                  @Override
                  protected void initChannel(SocketChannel channel) {
                    if (epoll) { // the kernel ends a connection whose client takes no bytes
                      int timeoutMs = options.registrationTimeoutS() * 1000;
                      channel.config().setOption(EpollChannelOption.TCP_USER_TIMEOUT, timeoutMs);
                    }
                    addCodec.accept(channel.pipeline());
                    channel.pipeline().addLast(connection(channel, options, service));
                  }
                })
            .bind(address)
            .awaitUninterruptibly();
    if (!bound.isSuccess()) {
      endLoops();
      throw new IOException(reason(bound.cause()), bound.cause());
    }
    listener = bound.channel();
  }

  private static boolean useEpoll(String io, Consumer<String> log) {
    if (io.equals("nio") || Epoll.isAvailable()) {
      return !io.equals("nio");
    }
    String why = "epoll does not load: " + Epoll.unavailabilityCause();
    if (io.equals("epoll")) {
      throw new OptionRefused(why);
    }
    log.accept(why);
    return false;
  }

  @Override
  public String io() {
    return epoll ? "epoll" : "nio";
  }

  private ChannelHandler connection(SocketChannel channel, Options options, Service service) {
    return service.repliesOnly()
        ? new NettyReplier(channel, service, options)
        : new NettyConnection(channel, options, service, admission);
  }

  @Override
  public int port() {
    return ((InetSocketAddress) listener.localAddress()).getPort();
  }

  @Override
  public void run() {
    Thread timer = admission.startTimer();
    listener.closeFuture().awaitUninterruptibly();
    timer.interrupt();
    endLoops();
  }

  @Override
  public void close() {
    listener.close().awaitUninterruptibly();
  }

  private void endLoops() {
    acceptor.shutdownGracefully();
    loops.shutdownGracefully();
  }

  /** Strips the name of the system call that the native transport puts before the message. */
  private static String reason(Throwable cause) {
    return String.valueOf(cause.getMessage()).replaceFirst("^.*failed with error\\(-\\d+\\): ", "");
  }
}
