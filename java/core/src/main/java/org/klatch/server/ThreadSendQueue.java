package org.klatch.server;

import java.io.IOException;
import java.io.OutputStream;
import java.util.ArrayDeque;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.klatch.service.Outbox;

/**
 * The send queue of a connection with a sender thread, which does one blocking write for each line.
 *
 * <p>The queue is bounded in bytes. When a line does not fit, the queue overflows: it ignores
 * further lines and {@link #close}, and calls {@code onOverflow}.
 *
 * <p>Queueing a line allocates nothing. There is one sender, so it parks directly instead of
 * waiting on a condition. It also takes lines in batches, because a contended lock allocates a
 * queue node.
 */
final class ThreadSendQueue implements Outbox {
  private static final int BATCH = 32;

  private final int capacityBytes;
  private final boolean yield;
  private final Runnable onOverflow;
  // Not a monitor: up to JDK 23 a virtual thread that waits for one pins its carrier.
  private final ReentrantLock lock = new ReentrantLock();
  private final ArrayDeque<byte[]> lines = new ArrayDeque<>();
  private final byte[][] batch = new byte[BATCH][]; // used by the sender only
  private int batchBytes;
  private int queuedBytes; // includes the batch until all of it is written
  private Thread idle; // the sender while it is parked, else null
  private boolean overflowed;
  private boolean closed;

  /**
   * Creates an empty queue.
   *
   * @param onOverflow called once, from any thread, with this queue's lock held; must not block
   */
  ThreadSendQueue(int capacityBytes, boolean yield, Runnable onOverflow) {
    this.capacityBytes = capacityBytes;
    this.yield = yield;
    this.onOverflow = onOverflow;
  }

  @Override
  public void send(byte[] line) {
    Thread sender;
    lock.lock();
    try {
      if (closed || overflowed) {
        return;
      }
      if (queuedBytes + line.length > capacityBytes) {
        overflowed = true;
        onOverflow.run();
        return;
      }
      queuedBytes += line.length;
      lines.add(line);
      sender = takeIdle();
    } finally {
      lock.unlock();
    }
    LockSupport.unpark(sender);
  }

  @Override
  public boolean isOpen() {
    lock.lock();
    try {
      return !closed && !overflowed;
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void close() {
    Thread sender;
    lock.lock();
    try {
      closed |= !overflowed;
      sender = takeIdle();
    } finally {
      lock.unlock();
    }
    LockSupport.unpark(sender);
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
   * If the queue has overflowed, replaces the queued lines by {@code lastLine} and closes.
   * Otherwise does nothing.
   */
  void endIfOverflowed(byte[] lastLine) {
    Thread sender = null;
    lock.lock();
    try {
      if (overflowed) {
        lines.clear();
        lines.add(lastLine);
        queuedBytes = batchBytes + lastLine.length;
        overflowed = false;
        closed = true;
        sender = takeIdle();
      }
    } finally {
      lock.unlock();
    }
    LockSupport.unpark(sender);
  }

  /** Writes the queued lines, each with one write, until the queue is closed and empty. */
  void drainTo(OutputStream out, WriteWatch.Writes writes) throws IOException {
    int count;
    while ((count = takeBatch()) > 0) {
      for (int i = 0; i < count; i++) {
        writes.begin();
        out.write(batch[i]);
        out.flush();
        writes.end();
        batch[i] = null;
      }
    }
  }

  /** Waits for lines and moves them to the batch; returns their number, 0 at the end. */
  private int takeBatch() {
    lock.lock();
    try {
      queuedBytes -= batchBytes;
      batchBytes = 0;
      if (lines.isEmpty() && yield) {
        yieldUnlocked(); // after a batch
      }
      while (lines.isEmpty() && !closed) {
        parkUnlocked();
      }
      int count = Math.min(lines.size(), BATCH);
      for (int i = 0; i < count; i++) {
        batch[i] = lines.poll();
        batchBytes += batch[i].length;
      }
      return count;
    } finally {
      lock.unlock();
    }
  }

  /** Returns the sender if it is parked, for the caller to unpark, and marks it as running. */
  private Thread takeIdle() {
    Thread sender = idle;
    idle = null;
    return sender;
  }

  private void yieldUnlocked() {
    lock.unlock();
    try {
      Thread.yield();
    } finally {
      lock.lock();
    }
  }

  /** Parks without the lock. May return spuriously. */
  private void parkUnlocked() {
    idle = Thread.currentThread();
    lock.unlock();
    try {
      LockSupport.park(this);
    } finally {
      lock.lock();
    }
  }
}
