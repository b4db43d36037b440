package org.klatch.server;

import java.io.IOException;
import java.io.OutputStream;
import java.util.ArrayDeque;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.klatch.chat.Outbox;

/**
 * The lines that wait for one connection, and what its sender thread does: one blocking write for
 * each.
 *
 * <p>Bounded by bytes. When a line does not fit, nothing more is taken, not even the end, and the
 * connection is told.
 */
final class SendQueue implements Outbox {
  private final int capacityBytes;
  private final boolean yield;
  private final Runnable onOverflow;
  // No monitor: up to JDK 23 a virtual thread that waits in one keeps its carrier.
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition something = lock.newCondition();
  private final ArrayDeque<byte[]> lines = new ArrayDeque<>();
  private int waitingBytes;
  private boolean overflowed;
  private boolean closed;

  /**
   * Makes an empty queue.
   *
   * @param onOverflow called once, from any thread, with this queue's lock held; must not block
   */
  SendQueue(int capacityBytes, boolean yield, Runnable onOverflow) {
    this.capacityBytes = capacityBytes;
    this.yield = yield;
    this.onOverflow = onOverflow;
  }

  @Override
  public void send(byte[] line) {
    lock.lock();
    try {
      if (closed || overflowed) {
        return;
      }
      if (waitingBytes + line.length > capacityBytes) {
        overflowed = true;
        onOverflow.run();
        return;
      }
      waitingBytes += line.length;
      lines.add(line);
      if (lines.size() == 1) {
        something.signal();
      }
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void close() {
    lock.lock();
    try {
      closed |= !overflowed;
      something.signal();
    } finally {
      lock.unlock();
    }
  }

  boolean overflowed() {
    lock.lock();
    try {
      return overflowed;
    } finally {
      lock.unlock();
    }
  }

  /**
   * For a connection that does not read: drops what waits, so that a last word gets through, and
   * closes. Does nothing if the queue has not overflowed.
   */
  void endIfOverflowed(byte[] lastLine) {
    lock.lock();
    try {
      if (overflowed) {
        lines.clear();
        lines.add(lastLine);
        waitingBytes = lastLine.length;
        overflowed = false;
        closed = true;
        something.signal();
      }
    } finally {
      lock.unlock();
    }
  }

  /** Writes line after line until the queue is closed and empty. */
  void drainTo(OutputStream out) throws IOException {
    byte[] line;
    while ((line = next()) != null) {
      out.write(line);
      out.flush();
    }
  }

  /** The next line, waiting for it; null at the end. */
  private byte[] next() {
    lock.lock();
    try {
      if (lines.isEmpty() && yield) {
        yieldUnlocked(); // a batch is out
      }
      while (lines.isEmpty() && !closed) {
        something.awaitUninterruptibly();
      }
      byte[] line = lines.poll();
      if (line != null) {
        waitingBytes -= line.length;
      }
      return line;
    } finally {
      lock.unlock();
    }
  }

  private void yieldUnlocked() {
    lock.unlock();
    try {
      Thread.yield();
    } finally {
      lock.lock();
    }
  }
}
