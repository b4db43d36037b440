package org.klatch.netty;

import io.netty.channel.socket.SocketChannel;
import java.util.concurrent.atomic.AtomicInteger;
import org.klatch.chat.Outbox;

/**
 * The way out to one channel: a flushed write for each line. Netty would let a line from the
 * channel's own loop overtake those that other loops have brought before; here all members of a
 * room see one order.
 */
final class NettyOutbox implements Outbox {
  private final SocketChannel channel;
  private final int capacityBytes;
  private final Runnable onOverflow;
  private final Runnable onClose;
  private final AtomicInteger comingBytes = new AtomicInteger(); // from other loops
  private volatile boolean bounded = true;
  private volatile boolean full;
  private volatile boolean closed;

  /**
   * Makes an empty outbox.
   *
   * @param onOverflow called in the channel's loop when more waits than may wait
   * @param onClose called in the channel's loop when the last line is on its way
   */
  NettyOutbox(SocketChannel channel, int capacityBytes, Runnable onOverflow, Runnable onClose) {
    this.channel = channel;
    this.capacityBytes = capacityBytes;
    this.onOverflow = onOverflow;
    this.onClose = onClose;
  }

  @Override
  public void send(byte[] line) {
    if (full || closed) {
      return;
    }
    if (bounded && (!channel.isWritable() || comingBytes.get() > capacityBytes)) {
      if (channel.isActive()) {
        full = true;
        channel.eventLoop().execute(onOverflow);
      }
      return;
    }
    if (comingBytes.get() == 0 && channel.eventLoop().inEventLoop()) {
      write(line);
    } else {
      comingBytes.addAndGet(line.length);
      channel.eventLoop().execute(() -> bring(line));
    }
  }

  @Override
  public void close() {
    closed = true;
    channel.eventLoop().execute(onClose);
  }

  /** Takes lines again, though it is full: for the last word. */
  void unbind() {
    bounded = false;
    full = false;
  }

  private void bring(byte[] line) {
    write(line);
    comingBytes.addAndGet(-line.length);
  }

  private void write(byte[] line) {
    channel.writeAndFlush(
        channel.alloc().directBuffer(line.length).writeBytes(line), channel.voidPromise());
  }
}
