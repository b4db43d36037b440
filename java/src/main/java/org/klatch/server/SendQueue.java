package org.klatch.server;

import java.io.IOException;
import java.io.OutputStream;
import java.util.ArrayDeque;
import org.klatch.chat.Outbox;

/**
 * The lines that wait for one connection, and what its sender thread does: one blocking write for
 * each.
 *
 * <p>Bounded by bytes. When a line does not fit, nothing more is taken, and the connection is told.
 */
final class SendQueue implements Outbox {
  private final int capacityBytes;
  private final boolean yield;
  private final Runnable onOverflow;
  private final ArrayDeque<byte[]> lines = new ArrayDeque<>();
  private int waitingBytes;
  private boolean overflowed;
  private boolean closed;

  /**
   * Makes an empty queue.
   *
   * @param onOverflow called once, from any thread, with this queue's monitor held; must not block
   */
  SendQueue(int capacityBytes, boolean yield, Runnable onOverflow) {
    this.capacityBytes = capacityBytes;
    this.yield = yield;
    this.onOverflow = onOverflow;
  }

  @Override
  public synchronized void send(byte[] line) {
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
      notifyAll();
    }
  }

  @Override
  public synchronized void close() {
    closed = true;
    notifyAll();
  }

  synchronized boolean overflowed() {
    return overflowed;
  }

  /** Drops what waits, so that a last word gets through: for a connection that does not read. */
  synchronized void clear() {
    lines.clear();
    waitingBytes = 0;
    overflowed = false;
  }

  /** Writes line after line until the queue is closed and empty. */
  void drainTo(OutputStream out) throws IOException {
    byte[] line;
    while ((line = next()) != null) {
      out.write(line);
      out.flush();
    }
  }

  private byte[] next() {
    byte[] line = poll();
    if (line == null && yield) {
      Thread.yield(); // a batch is out
    }
    return line != null ? line : await();
  }

  private synchronized byte[] poll() {
    byte[] line = lines.poll();
    if (line != null) {
      waitingBytes -= line.length;
    }
    return line;
  }

  private synchronized byte[] await() {
    while (lines.isEmpty() && !closed) {
      try {
        wait();
      } catch (InterruptedException e) {
        return null;
      }
    }
    return poll();
  }
}
