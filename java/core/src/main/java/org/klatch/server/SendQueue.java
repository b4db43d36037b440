package org.klatch.server;

import java.io.IOException;
import java.io.OutputStream;
import java.util.ArrayDeque;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.klatch.chat.Outbox;

/**
 * The lines that wait for one connection, and what its sender thread does: one blocking write for
 * each.
 *
 * <p>Bounded by bytes. When a line does not fit, nothing more is taken, not even the end, and the
 * connection is told.
 *
 * <p>Handing a line over allocates nothing: there is one sender, so it parks by itself and needs no
 * place in the queue of a condition; and it takes a batch of lines at a time, so that it seldom
 * meets others at the lock, which allocates for whoever has to wait.
 */
final class SendQueue implements Outbox {
  private static final int BATCH = 32;

  private final int capacityBytes;
  private final boolean yield;
  private final Runnable onOverflow;
  // No monitor: up to JDK 23 a virtual thread that waits in one keeps its carrier.
  private final ReentrantLock lock = new ReentrantLock();
  private final ArrayDeque<byte[]> lines = new ArrayDeque<>();
  private final byte[][] batch = new byte[BATCH][]; // the sender's own
  private int batchBytes;
  private int waitingBytes; // of the batch as well, until all of it is written
  private Thread idle; // the sender, while it waits for a line
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
    Thread sender;
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
      sender = takeIdle();
    } finally {
      lock.unlock();
    }
    LockSupport.unpark(sender);
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
   * For a connection that does not read: drops what waits, so that a last word gets through, and
   * closes. Does nothing if the queue has not overflowed.
   */
  void endIfOverflowed(byte[] lastLine) {
    Thread sender = null;
    lock.lock();
    try {
      if (overflowed) {
        lines.clear();
        lines.add(lastLine);
        waitingBytes = batchBytes + lastLine.length;
        overflowed = false;
        closed = true;
        sender = takeIdle();
      }
    } finally {
      lock.unlock();
    }
    LockSupport.unpark(sender);
  }

  /** Writes line after line until the queue is closed and empty. */
  void drainTo(OutputStream out) throws IOException {
    int count;
    while ((count = takeBatch()) > 0) {
      for (int i = 0; i < count; i++) {
        out.write(batch[i]);
        out.flush();
        batch[i] = null;
      }
    }
  }

  /** Fills the batch, waiting for lines; 0 at the end. */
  private int takeBatch() {
    lock.lock();
    try {
      waitingBytes -= batchBytes;
      batchBytes = 0;
      if (lines.isEmpty() && yield) {
        yieldUnlocked(); // a batch is out
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

  /** The sender if it waits, who is to be woken then, and not again. */
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

  /** Parks until it is woken, or for no reason. */
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
