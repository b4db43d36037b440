package org.klatch.netty;

import io.netty.channel.socket.SocketChannel;
import java.util.concurrent.atomic.AtomicInteger;
import org.klatch.service.Outbox;

/**
 * The send queue of a channel, with a flushed write for each line. Netty alone would let a line
 * from the channel's own loop overtake earlier lines from other loops. This class preserves the
 * order, so all members of a room see the same one.
 */
final class NettySendQueue implements Outbox {
  private final SocketChannel channel;
  private final int capacityBytes;
  private final Runnable onOverflow;
  private final Runnable onClose;
  private final AtomicInteger submittedBytes =
      new AtomicInteger(); // by other loops, not yet written
  private volatile boolean bounded = true;
  private volatile boolean full;
  private volatile boolean closed;

  /**
   * Creates an empty queue.
   *
   * @param onOverflow called in the channel's loop when the queue exceeds its limit
   * @param onClose called in the channel's loop after the last line
   */
  NettySendQueue(SocketChannel channel, int capacityBytes, Runnable onOverflow, Runnable onClose) {
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
    if (bounded && (!channel.isWritable() || submittedBytes.get() > capacityBytes)) {
      if (channel.isActive()) {
        full = true;
        channel.eventLoop().execute(onOverflow);
      }
      return;
    }
    if (submittedBytes.get() == 0 && channel.eventLoop().inEventLoop()) {
      write(line);
    } else {
      submittedBytes.addAndGet(line.length);
      channel.eventLoop().execute(() -> writeSubmitted(line));
    }
  }

  @Override
  public boolean isOpen() {
    return !full && !closed;
  }

  @Override
  public void close() {
    closed = true;
    channel.eventLoop().execute(onClose);
  }

  /** Accepts lines again after an overflow, without a limit: for the closing line. */
  void reopenUnbounded() {
    bounded = false;
    full = false;
  }

  private void writeSubmitted(byte[] line) {
    write(line);
    submittedBytes.addAndGet(-line.length);
  }

  private void write(byte[] line) {
    channel.writeAndFlush(
        channel.alloc().directBuffer(line.length).writeBytes(line), channel.voidPromise());
  }
}
