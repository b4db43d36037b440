package org.klatch.server;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.ArrayDeque;
import org.klatch.service.Outbox;

/**
 * The send queue of an event loop's connection. Any loop may add lines. Without coalescing, the
 * loop that adds a line to an empty queue writes it at once; the connection's own loop writes the
 * rest.
 */
final class LoopSendQueue implements Outbox {
  private static final int BATCH_BYTES = 64 * 1024;

  /** Buffer of a system call, one for each loop's thread. */
  private static final ThreadLocal<ByteBuffer> SCRATCH =
      ThreadLocal.withInitial(() -> ByteBuffer.allocateDirect(BATCH_BYTES));

  /** Whether lines can be queued and written. */
  enum State {
    /** Lines are queued and written. */
    OPEN,
    /** The queue has exceeded its limit; lines and {@link #close} are ignored. */
    OVERFLOWED,
    /** A write has failed; nothing more can be written. */
    BROKEN
  }

  private final SocketChannel channel;
  private final boolean coalesce;
  private final int capacityBytes;
  private final Runnable markDirty;
  private final ArrayDeque<byte[]> lines = new ArrayDeque<>();
  private int written; // bytes of the first line that are written
  private int queuedBytes; // of all lines, including those of the first that are written
  private boolean writeBlocked; // the socket accepted only a part of the last write
  private boolean closed;
  private State state = State.OPEN;

  /**
   * Creates an empty queue.
   *
   * @param markDirty makes the loop service the connection; called from any thread with this
   *     queue's monitor held
   */
  LoopSendQueue(SocketChannel channel, Options options, Runnable markDirty) {
    this.channel = channel;
    this.markDirty = markDirty;
    coalesce = options.coalesce();
    capacityBytes = options.sendqBytes();
  }

  @Override
  public synchronized void send(byte[] line) {
    if (closed || state != State.OPEN) {
      return;
    }
    lines.add(line);
    queuedBytes += line.length;
    if (!writeBlocked && (!coalesce || queuedBytes > Math.min(BATCH_BYTES, capacityBytes))) {
      flush();
    }
    if (queuedBytes > capacityBytes && state == State.OPEN) {
      state = State.OVERFLOWED;
    }
    if (queuedBytes > 0 || state != State.OPEN) {
      markDirty.run();
    }
  }

  @Override
  public synchronized boolean isOpen() {
    return !closed && state == State.OPEN;
  }

  /** Writes the reply without a copy. Queues only what a blocked socket does not accept. */
  @Override
  public synchronized void reply(ByteBuffer bytes) {
    if (closed || state != State.OPEN) {
      return;
    }
    try {
      if (lines.isEmpty()) {
        channel.write(bytes);
      }
    } catch (IOException e) {
      fail();
    }
    if (state == State.OPEN && bytes.hasRemaining()) {
      byte[] rest = new byte[bytes.remaining()];
      bytes.get(rest);
      lines.add(rest);
      queuedBytes += rest.length;
      writeBlocked = true;
    }
    if (queuedBytes > 0 || state != State.OPEN) {
      markDirty.run();
    }
  }

  @Override
  public synchronized void close() {
    closed |= state != State.OVERFLOWED;
    markDirty.run();
  }

  synchronized State state() {
    return state;
  }

  /**
   * If the queue has overflowed: drops all lines but a partly written one, adds a last line, and
   * closes.
   */
  synchronized void endIfOverflowed(byte[] lastLine) {
    if (state != State.OVERFLOWED) {
      return;
    }
    byte[] first = lines.peek();
    lines.clear();
    queuedBytes = lastLine.length;
    if (written > 0) {
      lines.add(first);
      queuedBytes += first.length;
    }
    lines.add(lastLine);
    state = State.OPEN;
    closed = true;
    markDirty.run();
  }

  /** Writes the queued lines unless the socket is blocked; true if the queue is empty. */
  synchronized boolean flushUnlessBlocked() {
    if (!writeBlocked) {
      flush();
    }
    return lines.isEmpty();
  }

  /** Writes the queued lines after the socket has become writable. */
  synchronized void flushBlocked() {
    flush();
  }

  /** Writes until the queue is empty or the socket is blocked. */
  private void flush() {
    try {
      writeBlocked = false;
      ByteBuffer out = SCRATCH.get();
      while (!lines.isEmpty() && !writeBlocked) {
        fill(out);
        int offered = out.remaining();
        int accepted = channel.write(out);
        writeBlocked = accepted < offered;
        consume(accepted);
      }
    } catch (IOException e) {
      fail();
    }
  }

  private void fail() {
    state = State.BROKEN;
    lines.clear();
    written = queuedBytes = 0;
  }

  /** Fills the buffer for one write: with one line, or when coalescing with all that fit. */
  private void fill(ByteBuffer out) {
    out.clear();
    if (coalesce) {
      putAll(out);
    } else {
      put(lines.element(), written, out); // an iterator would be allocated for each delivery
    }
    out.flip();
  }

  private void putAll(ByteBuffer out) {
    int skip = written;
    for (byte[] line : lines) {
      if (out.position() > 0 && line.length - skip > out.remaining()) {
        break;
      }
      put(line, skip, out);
      skip = 0;
    }
  }

  /** Puts a line, or of a large file as much as fits. */
  private static void put(byte[] line, int skip, ByteBuffer out) {
    out.put(line, skip, Math.min(line.length - skip, out.remaining()));
  }

  private void consume(int bytes) {
    written += bytes;
    byte[] first;
    while ((first = lines.peek()) != null && first.length <= written) {
      written -= first.length;
      queuedBytes -= first.length;
      lines.poll();
    }
  }
}
