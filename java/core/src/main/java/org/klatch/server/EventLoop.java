package org.klatch.server;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/**
 * One thread that serves many connections. What a turn of it does: wait; read from those who have
 * said something and do what they ask for, which writes to others; then look after the connections
 * that need it.
 */
final class EventLoop {
  private static final int BUFFER_BYTES = 64 * 1024;

  /** How long a connection that is over may take to let its last words out. */
  private static final long GRACE_NS = 1_000_000_000;

  private final Selector selector = Selector.open();
  private final ByteBuffer buffer = ByteBuffer.allocateDirect(BUFFER_BYTES);
  private final ArrayDeque<LoopConnection> closing = new ArrayDeque<>(); // the first is the next
  private List<LoopConnection> noted = new ArrayList<>(); // guarded by this
  private List<LoopConnection> looked = new ArrayList<>();
  private volatile boolean asleep; // set only with nothing noted, and by the loop
  private volatile boolean stopped;

  EventLoop() throws IOException {}

  Selector selector() {
    return selector;
  }

  /** Has the loop look after a connection before it waits again; from any thread. */
  void note(LoopConnection connection) {
    synchronized (this) {
      noted.add(connection);
    }
    if (asleep) {
      asleep = false; // once is enough
      selector.wakeup();
    }
  }

  /** Ends {@link #run}; from any thread. */
  void stop() {
    stopped = true;
    selector.wakeup();
  }

  /** Gives a connection that is over its time; its loop only. */
  void beginClosing(LoopConnection connection) {
    connection.deadlineNs = System.nanoTime() + GRACE_NS;
    closing.add(connection);
  }

  /** Serves connections until it is stopped, and closes those that are left. */
  void run() throws IOException {
    try (selector) {
      while (!stopped) {
        if (maySleep()) {
          selector.select(this::serve, timeoutMs());
          asleep = false;
        } else {
          selector.selectNow(this::serve);
        }
        removeOverdue();
        lookAfterNoted();
      }
      for (SelectionKey key : selector.keys()) {
        key.channel().close();
      }
    }
  }

  private void serve(SelectionKey key) {
    asleep = false;
    ((LoopConnection) key.attachment()).serve(key.readyOps(), buffer);
  }

  /** Whoever notes after this sees that the loop sleeps, and wakes it. */
  private synchronized boolean maySleep() {
    asleep = noted.isEmpty();
    return asleep;
  }

  /** As {@link Selector#select(long)} takes it: 0 is for ever. */
  private long timeoutMs() {
    while (!closing.isEmpty() && closing.peek().gone()) {
      closing.poll();
    }
    if (closing.isEmpty()) {
      return 0;
    }
    return Math.max(1, (closing.peek().deadlineNs - System.nanoTime()) / 1_000_000 + 1);
  }

  private void removeOverdue() {
    long now = System.nanoTime();
    while (!closing.isEmpty() && closing.peek().deadlineNs - now <= 0) {
      closing.poll().remove();
    }
  }

  private void lookAfterNoted() {
    while (true) {
      synchronized (this) {
        if (noted.isEmpty()) {
          return;
        }
        List<LoopConnection> empty = looked;
        looked = noted;
        noted = empty;
      }
      looked.forEach(LoopConnection::lookAfter);
      looked.clear();
    }
  }
}
