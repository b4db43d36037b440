package org.klatch.server;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.ArrayDeque;
import org.klatch.chat.Outbox;

/**
 * The way out to one connection of an event loop. Lines come from any loop. Unless they are put
 * together, the loop that brings a line writes it at once if nothing waits; what waits is written
 * by the loop that owns the connection.
 */
final class Outlet implements Outbox {
  private static final int GATHER_BYTES = 64 * 1024;

  /** One for each loop's thread. */
  private static final ThreadLocal<ByteBuffer> SCRATCH =
      ThreadLocal.withInitial(() -> ByteBuffer.allocateDirect(GATHER_BYTES));

  /** How it is with a connection. */
  enum State {
    FINE,
    /** More waits than may wait; nothing more is taken, not even the end. */
    OVERFLOWED,
    /** The connection is broken; nothing can be written any more. */
    BROKEN
  }

  private final SocketChannel channel;
  private final boolean coalesce;
  private final int capacityBytes;
  private final Runnable note;
  private final ArrayDeque<byte[]> lines = new ArrayDeque<>();
  private int written; // bytes of the first line
  private int waitingBytes; // of all lines, written ones included
  private boolean jammed; // the connection took less than it was given
  private boolean closed;
  private State state = State.FINE;

  /**
   * Makes an empty outlet.
   *
   * @param note has the loop look after the connection; called from any thread with this outlet's
   *     monitor held
   */
  Outlet(SocketChannel channel, Options options, Runnable note) {
    this.channel = channel;
    this.note = note;
    coalesce = options.coalesce();
    capacityBytes = options.sendqBytes();
  }

  @Override
  public synchronized void send(byte[] line) {
    if (closed || state != State.FINE) {
      return;
    }
    lines.add(line);
    waitingBytes += line.length;
    if (!jammed && (!coalesce || waitingBytes > Math.min(GATHER_BYTES, capacityBytes))) {
      flush();
    }
    if (waitingBytes > capacityBytes && state == State.FINE) {
      state = State.OVERFLOWED;
    }
    if (waitingBytes > 0 || state != State.FINE) {
      note.run();
    }
  }

  @Override
  public synchronized void close() {
    closed |= state != State.OVERFLOWED;
    note.run();
  }

  synchronized State state() {
    return state;
  }

  /**
   * If more waits than may wait: drops it but for the rest of a line that is partly written, takes
   * a last line, and closes.
   */
  synchronized void endIfOverflowed(byte[] lastLine) {
    if (state != State.OVERFLOWED) {
      return;
    }
    byte[] first = lines.peek();
    lines.clear();
    waitingBytes = lastLine.length;
    if (written > 0) {
      lines.add(first);
      waitingBytes += first.length;
    }
    lines.add(lastLine);
    state = State.FINE;
    closed = true;
    note.run();
  }

  /** Writes what waits unless the connection is jammed; true if nothing waits any more. */
  synchronized boolean flushUnlessJammed() {
    if (!jammed) {
      flush();
    }
    return lines.isEmpty();
  }

  /** The connection takes more: writes what waits. */
  synchronized void flushJam() {
    flush();
  }

  /** Whether the owner has to hear when the connection takes more. */
  synchronized boolean jammed() {
    return jammed;
  }

  /** Writes until nothing waits or the connection takes no more. */
  private void flush() {
    try {
      jammed = false;
      ByteBuffer out = SCRATCH.get();
      while (!lines.isEmpty() && !jammed) {
        fill(out);
        int given = out.remaining();
        int taken = channel.write(out);
        jammed = taken < given;
        forget(taken);
      }
    } catch (IOException e) {
      state = State.BROKEN;
      lines.clear();
      written = waitingBytes = 0;
    }
  }

  /** Puts in what goes into one write: one line, or as many as there is room for. */
  private void fill(ByteBuffer out) {
    out.clear();
    if (coalesce) {
      putAll(out);
    } else {
      byte[] first = lines.element(); // no iterator: it would be made for each delivery
      out.put(first, written, first.length - written);
    }
    out.flip();
  }

  private void putAll(ByteBuffer out) {
    int skip = written;
    for (byte[] line : lines) {
      if (line.length - skip > out.remaining()) {
        break;
      }
      out.put(line, skip, line.length - skip);
      skip = 0;
    }
  }

  private void forget(int taken) {
    written += taken;
    byte[] first;
    while ((first = lines.peek()) != null && first.length <= written) {
      written -= first.length;
      waitingBytes -= first.length;
      lines.poll();
    }
  }
}
