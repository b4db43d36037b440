package org.klatch.crowd;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.klatch.chat.Text;

/**
 * The thread that sends a user's messages, each with one blocking write when its pace allows it.
 */
final class Sender {
  private static final long NOTHING_DUE = Long.MAX_VALUE;

  /** Most bytes of replies, with what a queue needs for each, that wait for the server to read. */
  private static final int REPLIES_MAX_BYTES = 512 * 1024;

  private static final int REPLY_OVERHEAD_BYTES = 64;

  /**
   * A write that takes longer has waited for the server to read. Streams do not tell; a write that
   * does not wait takes a few microseconds.
   */
  private static final long BLOCKED_NS = 1_000_000;

  private final User user;
  private final Options options;
  private final byte[] line; // the text in it is rewritten for every message
  private final int textAt;
  private final Schedule schedule; // null unless pacing is rate
  private final Queue<byte[]> pongs = new ConcurrentLinkedQueue<>();
  private final AtomicInteger pongBytes = new AtomicInteger(); // of the pongs not yet written
  private volatile int allowed;
  private volatile boolean held; // found the gate closed when it had a message to send
  private volatile boolean leaving;
  private OutputStream out;
  private Thread thread;
  private int sent;
  private long pausedUntilNs;
  private long freeNs; // when the last write that waited for the server ended

  Sender(User user, int allowed) {
    this.user = user;
    this.allowed = allowed;
    options = user.options;
    String head = "PRIVMSG " + user.id.channel + " :";
    textAt = head.length();
    line = (head + " ".repeat(options.size()) + "\r\n").getBytes(StandardCharsets.US_ASCII);
    schedule = options.schedule(user.id.room, user.id.user);
  }

  void runsIn(Thread thread) {
    this.thread = thread;
  }

  void writeTo(OutputStream out) {
    this.out = out;
  }

  /** Sets how many messages may have been sent in all. Called by the receiver. */
  void allow(int count) {
    if (count != allowed) {
      allowed = count;
      LockSupport.unpark(thread);
    }
  }

  /**
   * Queues a PONG. Called by the receiver, which must not block.
   *
   * @throws TransportException if the server reads none of them
   */
  void enqueue(byte[] bytes) throws TransportException {
    if (pongBytes.addAndGet(size(bytes)) > REPLIES_MAX_BYTES) {
      throw new TransportException(
          "the server asks for replies, such as by pings, and does not read them: over "
              + REPLIES_MAX_BYTES / 1024
              + " KiB wait");
    }
    pongs.add(bytes);
    LockSupport.unpark(thread);
  }

  /** Wakes the thread if it waits for the gate. Called after the gate has opened. */
  void wakeIfHeld() {
    if (held) {
      held = false;
      LockSupport.unpark(thread);
    }
  }

  /** Makes the thread send QUIT and end. */
  void leave() {
    leaving = true;
    LockSupport.unpark(thread);
  }

  /** Writes a line. Before this thread starts, the receiver calls it for the registration. */
  void writeNow(String text) throws IOException {
    out.write(text.getBytes(StandardCharsets.US_ASCII));
    out.flush();
  }

  void run() throws IOException {
    while (true) {
      byte[] pong = pongs.poll();
      if (pong != null) {
        out.write(pong);
        pongBytes.addAndGet(-size(pong));
      } else if (leaving) {
        writeNow("QUIT\r\n");
        return;
      } else {
        sendOrWait();
      }
    }
  }

  private static int size(byte[] pong) {
    return pong.length + REPLY_OVERHEAD_BYTES;
  }

  private void sendOrWait() throws IOException {
    long dueNs = dueNs();
    if (dueNs == NOTHING_DUE) {
      yieldAfterBatch();
      LockSupport.park(this);
      return;
    }
    long nowNs = user.gate.nowNs();
    if (dueNs > nowNs) {
      yieldAfterBatch();
      LockSupport.parkNanos(this, dueNs - nowNs);
    } else {
      sendMessage(nowNs, dueNs);
    }
  }

  /** Time of the next message, ns since the crowd's start; 0 for at once. */
  private long dueNs() {
    if (sent >= allowed || isHeld()) {
      return NOTHING_DUE;
    }
    return schedule == null ? pausedUntilNs : user.gate.openedNs() + schedule.dueNs(sent);
  }

  private boolean isHeld() {
    if (user.gate.isOpen()) {
      return false;
    }
    held = true; // before the second look, because the gate opens before `held` is read
    return !user.gate.isOpen();
  }

  /**
   * Sends a message, unless the gate has closed. The message counts as sent before the look at the
   * gate, so a pause never overlooks it.
   */
  private void sendMessage(long nowNs, long dueNs) throws IOException {
    user.sent.set(sent + 1);
    if (!user.gate.isOpen()) {
      user.sent.set(sent);
      user.countsChanged();
      return;
    }
    boolean scheduled = schedule != null;
    UserId id = user.id;
    Text.write(line, textAt, options.size(), id.room, id.user, sent, scheduled ? dueNs : nowNs);
    if (scheduled) {
      user.lag.record(nowNs - Math.max(dueNs, freeNs));
      if (user.stageCounts != null) {
        user.stageCounts.recordDue(dueNs - user.gate.openedNs(), options.users() - 1);
      }
    }
    writeMessage();
    if (scheduled) {
      long writtenNs = user.gate.nowNs();
      freeNs = writtenNs - nowNs > BLOCKED_NS ? writtenNs : freeNs;
    }
    sent++;
    if (options.pauseNs() > 0) {
      pausedUntilNs = nowNs + options.pauseNs();
    }
  }

  private void writeMessage() throws IOException {
    try {
      out.write(line);
      out.flush();
    } catch (IOException e) {
      user.sent.set(sent);
      throw e;
    }
  }

  /** Yields after a batch, if the options ask for it. */
  private void yieldAfterBatch() {
    if (options.yield() && sent > 0) {
      Thread.yield();
    }
  }
}
