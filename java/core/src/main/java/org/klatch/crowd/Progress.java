package org.klatch.crowd;

import java.util.ArrayDeque;
import java.util.Queue;
import java.util.function.BooleanSupplier;

/**
 * Counts the parties that have connected, joined and finished, stores the first failure, queues
 * commands, and wakes the crowd's thread.
 */
public final class Progress {
  private int connected;
  private int joined;
  private int done;
  private long changes;
  private final Queue<Command> commands = new ArrayDeque<>();
  private Failure failure;

  synchronized void connected() {
    connected++;
  }

  /** Counts a party that has joined. */
  public synchronized void joined() {
    joined++;
    notifyAll();
  }

  /** Counts a party that has all its deliveries. */
  public synchronized void done() {
    done++;
    changed();
  }

  /** Records a failure. Later ones are ignored, because they usually follow from the first. */
  public synchronized void failed(Failure first) {
    if (failure == null) {
      failure = first;
      changed();
    }
  }

  synchronized boolean anyConnected() {
    return connected > 0;
  }

  synchronized Failure failure() {
    return failure;
  }

  /** Waits until {@code count} parties have joined; false after {@code timeoutMs} or a failure. */
  synchronized boolean awaitJoined(int count, long timeoutMs) throws InterruptedException {
    return await(() -> joined >= count, timeoutMs);
  }

  synchronized int doneCount() {
    return done;
  }

  /** Queues a command. */
  synchronized void command(Command command) {
    commands.add(command);
    changed();
  }

  /** Takes the next command from the queue; null if there is none. */
  synchronized Command nextCommand() {
    return commands.poll();
  }

  /** Counts a change that the crowd's thread must look at, and wakes it. */
  public synchronized void changed() {
    changes++;
    notifyAll();
  }

  /** Number of changes so far. */
  synchronized long changes() {
    return changes;
  }

  /**
   * Waits for a change after the first {@code seen}, until {@code deadlineNs} (of {@link
   * System#nanoTime}) at most.
   */
  synchronized void awaitChange(long seen, long deadlineNs) throws InterruptedException {
    long leftNs;
    while (changes == seen && (leftNs = deadlineNs - System.nanoTime()) > 0) {
      wait(leftNs / 1_000_000 + 1);
    }
  }

  private synchronized boolean await(BooleanSupplier condition, long timeoutMs)
      throws InterruptedException {
    long endNs = System.nanoTime() + timeoutMs * 1_000_000;
    long leftMs = timeoutMs;
    while (!condition.getAsBoolean() && failure == null && leftMs > 0) {
      wait(leftMs);
      leftMs = (endNs - System.nanoTime()) / 1_000_000;
    }
    return condition.getAsBoolean() && failure == null;
  }

  synchronized int joinedCount() {
    return joined;
  }
}
