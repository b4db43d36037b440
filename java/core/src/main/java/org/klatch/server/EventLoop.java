package org.klatch.server;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/**
 * A thread that serves many connections. One turn of the loop waits for events, reads and handles
 * the input of ready connections, which writes to others, and then services the dirty connections.
 */
final class EventLoop {
  private static final int BUFFER_BYTES = 64 * 1024;

  /** Time that a closing connection has to send its last lines. */
  private static final long GRACE_NS = 1_000_000_000;

  private final Selector selector = Selector.open();
  private final ByteBuffer buffer = ByteBuffer.allocateDirect(BUFFER_BYTES);
  private final ArrayDeque<LoopConnection> closing =
      new ArrayDeque<>(); // by deadline, earliest first
  private List<LoopConnection> dirty = new ArrayList<>(); // guarded by this
  private List<LoopConnection> servicing = new ArrayList<>();
  private volatile boolean waiting; // set by the loop, only if nothing is dirty
  private volatile boolean stopped;

  EventLoop() throws IOException {}

  Selector selector() {
    return selector;
  }

  /** Makes the loop service a connection before it waits again. Callable from any thread. */
  void markDirty(LoopConnection connection) {
    synchronized (this) {
      dirty.add(connection);
    }
    if (waiting) {
      waiting = false; // one wake-up is enough
      selector.wakeup();
    }
  }

  /** Ends {@link #run}. Callable from any thread. */
  void stop() {
    stopped = true;
    selector.wakeup();
  }

  /** Starts the deadline of a closing connection. Called by its own loop only. */
  void beginClosing(LoopConnection connection) {
    connection.deadlineNs = System.nanoTime() + GRACE_NS;
    closing.add(connection);
  }

  /** Serves connections until {@link #stop}, then closes the remaining ones. */
  void run() throws IOException {
    try (selector) {
      while (!stopped) {
        if (prepareToWait()) {
          selector.select(this::handle, timeoutMs());
          waiting = false;
        } else {
          selector.selectNow(this::handle);
        }
        removeExpired();
        serviceDirty();
      }
      for (SelectionKey key : selector.keys()) {
        key.channel().close();
      }
    }
  }

  private void handle(SelectionKey key) {
    waiting = false;
    ((LoopConnection) key.attachment()).handle(key.readyOps(), buffer);
  }

  /**
   * Returns whether to wait. A later {@link #markDirty} sees {@code waiting} and wakes the loop.
   */
  private synchronized boolean prepareToWait() {
    waiting = dirty.isEmpty();
    return waiting;
  }

  /** Time to the next deadline, for {@link Selector#select(long)}, where 0 is no time-out. */
  private long timeoutMs() {
    while (!closing.isEmpty() && closing.peek().removed()) {
      closing.poll();
    }
    if (closing.isEmpty()) {
      return 0;
    }
    return Math.max(1, (closing.peek().deadlineNs - System.nanoTime()) / 1_000_000 + 1);
  }

  private void removeExpired() {
    long now = System.nanoTime();
    while (!closing.isEmpty() && closing.peek().deadlineNs - now <= 0) {
      closing.poll().remove();
    }
  }

  private void serviceDirty() {
    while (true) {
      synchronized (this) {
        if (dirty.isEmpty()) {
          return;
        }
        List<LoopConnection> empty = servicing;
        servicing = dirty;
        dirty = empty;
      }
      servicing.forEach(LoopConnection::service);
      servicing.clear();
    }
  }
}
