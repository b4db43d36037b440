package org.klatch.server;

import java.io.IOException;
import java.net.Socket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Closes the connections whose client takes no bytes, so that no thread waits for it for ever: Java
 * has no time limit for a write. A thread looks at the writes a few times in that time, so that a
 * write costs two stores and no look at a clock.
 */
final class WriteWatch {
  /** Most bytes of one write. A client that takes these within the time is slow, but not closed. */
  static final int WRITE_BYTES_MAX = 128 * 1024; // of a system call, as the JDK makes them

  private static final long LOOK_NS_MAX = 1_000_000_000;
  private static final int LOOKS = 4;

  /** The writes of one connection. */
  static final class Writes {
    private final Socket socket;
    private final AtomicInteger count = new AtomicInteger(); // odd while one is under way
    private int seen; // by the watch
    private long seenSinceNs;

    Writes(Socket socket) {
      this.socket = socket;
    }

    /** Called before each write, by one thread at a time. */
    void begin() {
      count.lazySet(count.getPlain() + 1);
    }

    /** Called after each write. */
    void end() {
      count.lazySet(count.getPlain() + 1);
    }
  }

  private final long timeoutNs;
  private final Set<Writes> watched = ConcurrentHashMap.newKeySet();

  /** Creates a watch that closes nothing before {@link #start}. */
  WriteWatch(Options options) {
    timeoutNs = options.registrationTimeoutS() * 1_000_000_000L;
  }

  void add(Writes writes) {
    watched.add(writes);
  }

  void remove(Writes writes) {
    watched.remove(writes);
  }

  /** Starts the thread that looks, until it is interrupted. */
  Thread start() {
    Thread looker = new Thread(this::look, "write watch");
    looker.setDaemon(true);
    looker.start();
    return looker;
  }

  private void look() {
    try {
      while (true) {
        Thread.sleep(Math.min(LOOK_NS_MAX, timeoutNs / LOOKS) / 1_000_000);
        long now = System.nanoTime();
        watched.forEach(writes -> check(writes, now));
      }
    } catch (InterruptedException e) {
      // the server was closed
    }
  }

  private void check(Writes writes, long now) {
    int count = writes.count.get();
    if (count != writes.seen) {
      writes.seen = count;
      writes.seenSinceNs = now;
    } else if (count % 2 != 0 && now - writes.seenSinceNs >= timeoutNs) {
      watched.remove(writes);
      close(writes.socket);
    }
  }

  /** Makes the write fail. */
  private static void close(Socket socket) {
    try {
      socket.close();
    } catch (IOException e) {
      // the connection is unusable either way
    }
  }
}
