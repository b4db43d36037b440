package org.klatch.readers;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.klatch.crowd.Failure;
import org.klatch.crowd.Fault;
import org.klatch.crowd.Faults;
import org.klatch.crowd.Gate;
import org.klatch.crowd.Latencies;
import org.klatch.crowd.Progress;
import org.klatch.exchange.files.BlockOrder;
import org.klatch.exchange.files.PageChecker;
import org.klatch.exchange.files.Pages;

/**
 * One reader: a thread that reads blocks while the gate is open, and the accounts of what it read.
 *
 * <p>The accounts belong to its thread. Others read them while it is idle and after its end.
 */
final class Reader {
  /** Counters are published after so many reads, and a thread that yields does so then. */
  private static final int PUBLISH_READS = 64;

  final Faults faults = new Faults();
  final Latencies latencies = new Latencies();

  /** Reads begun and blocks verified, as published. */
  final AtomicLong publishedReads = new AtomicLong();

  final AtomicLong publishedBlocks = new AtomicLong();

  private final Options options;
  private final int index;
  private final Gate gate;
  private final Progress progress;
  private final OpenFiles open;
  private final BlockReader blocks;
  private final PageChecker checker;
  private final BlockOrder order;
  private final ByteBuffer block;
  private final Thread thread;
  private volatile boolean idle;
  private volatile boolean leaving;
  private boolean complete;
  private long reads;
  private long verified;
  private long lastBlockNs;

  /**
   * Opens the files.
   *
   * @param index number of the reader in this process, from 0
   */
  Reader(int index, Options options, Pages pages, Gate gate, Progress progress)
      throws ReadException {
    this.index = index;
    this.options = options;
    this.gate = gate;
    this.progress = progress;
    open = OpenFiles.open(options);
    blocks = options.reads().over(open);
    checker = pages.newChecker();
    block = ByteBuffer.allocateDirect(options.blockBytes());
    order =
        new BlockOrder(
            Options.CONTENT_SEED,
            number(),
            options.files(),
            options.blocksPerFile(),
            options.random());
    thread = options.threads().newThread(this::run);
    thread.setName("reader-" + number());
  }

  void start() {
    try {
      thread.start();
    } catch (OutOfMemoryError noThread) {
      fail(Failure.Kind.JOIN, "cannot start a thread: " + noThread.getMessage());
    }
  }

  void gateOpened() {
    LockSupport.unpark(thread);
  }

  void leave() {
    leaving = true;
    LockSupport.unpark(thread);
  }

  void awaitEnd() throws InterruptedException {
    thread.join();
  }

  /**
   * Whether it reads nothing and begins nothing while the gate is closed. Its accounts are then
   * visible to the caller.
   */
  boolean isIdle() {
    return idle;
  }

  /** Time of the last verified block, ns since the crowd's start; 0 if there is none. */
  long lastBlockNs() {
    return lastBlockNs;
  }

  private int number() {
    return options.start() + index;
  }

  private void run() {
    Failure.Kind kind = Failure.Kind.JOIN;
    try (open) {
      if (warmUp()) {
        kind = Failure.Kind.READ;
        progress.joined();
        while (awaitGate()) {
          readBlocks();
        }
      }
    } catch (IOException e) {
      fail(kind, e.getMessage());
    } catch (InternalError e) { // see MappedReader
      fail(kind, "cannot read a mapped file, which may have become shorter: " + e.getMessage());
    }
    idle = true;
  }

  /**
   * Reads its share of the files once, so that they are in the page cache, and checks them. Returns
   * false if one is wrong.
   */
  private boolean warmUp() throws ReadException {
    for (int file = index; file < options.files(); file += options.readers()) {
      for (int number = 0; number < options.blocksPerFile() && !leaving; number++) {
        int wrong = read(file, number);
        if (wrong >= 0) {
          fail(
              Failure.Kind.JOIN,
              String.format(
                  "page %d of file %d has other contents than it must have; delete the folder of"
                      + " the files, and Klatch writes them again",
                  wrong, file));
          return false;
        }
      }
    }
    return true;
  }

  /** Waits for the gate to open; false if the reader is to end. */
  private boolean awaitGate() {
    while (!leaving) {
      idle = false; // before the look at the gate, so that a pause never overlooks a read
      if (gate.isOpen() && !complete) {
        return true;
      }
      idle = true;
      if (gate.isPausing()) {
        progress.changed();
      }
      LockSupport.park(this);
    }
    return false;
  }

  /** Reads until the gate closes, the time is over, or a block cannot be read. */
  private void readBlocks() throws ReadException {
    long openedNs = gate.openedNs();
    long endNs = openedNs + options.durationNs();
    try {
      while (gate.isOpen() && !complete) {
        long begunNs = gate.nowNs();
        complete = begunNs >= endNs;
        if (!complete) {
          readNext(openedNs, begunNs);
        }
      }
    } finally {
      publish();
    }
    if (complete) {
      progress.done();
    }
  }

  private void readNext(long openedNs, long begunNs) throws ReadException {
    order.next();
    long number = reads++;
    blocks.read(order.file(), (long) order.block() * options.blockBytes(), block);
    long nowNs = gate.nowNs();
    int wrong = options.verified() ? check(order.file(), order.block()) : -1;
    if (wrong >= 0) {
      faults.add(Fault.ofRead(number(), number, "page " + wrong + " of file " + order.file()));
      return;
    }
    verified++;
    lastBlockNs = nowNs;
    latencies.record(nowNs - openedNs, nowNs - begunNs);
    if (verified % PUBLISH_READS == 0) {
      publish();
      if (options.yield()) {
        Thread.yield();
      }
    }
  }

  /** Reads a block. Returns the number of its first page that is wrong; -1 if all are right. */
  private int read(int file, int number) throws ReadException {
    blocks.read(file, (long) number * options.blockBytes(), block);
    return options.verified() ? check(file, number) : -1;
  }

  private int check(int file, int number) {
    int pagesPerBlock = options.blockBytes() / Pages.PAGE_BYTES;
    return checker.firstWrong(file, number * pagesPerBlock, block);
  }

  private void publish() {
    publishedReads.lazySet(reads);
    publishedBlocks.lazySet(verified);
  }

  private void fail(Failure.Kind kind, String detail) {
    String text = "reader " + number() + ": " + detail;
    progress.failed(new Failure(kind, null, null, text));
  }
}
