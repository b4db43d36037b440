package org.klatch.crowd;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;
import org.klatch.chat.Text;

/**
 * The thread that says a user's messages: it waits for its turn and does one blocking write for
 * each.
 */
final class Sender {
  private static final long NOTHING_DUE = Long.MAX_VALUE;

  private final User user;
  private final Options options;
  private final byte[] line; // its text is rewritten for every message
  private final int textAt;
  private final Schedule schedule; // null unless pacing is rate
  private final Queue<byte[]> answers = new ConcurrentLinkedQueue<>(); // to PINGs
  private volatile int allowed;
  private volatile boolean leaving;
  private OutputStream out;
  private Thread thread;
  private int said;
  private long restUntilNs;

  Sender(User user, int allowed) {
    this.user = user;
    this.allowed = allowed;
    options = user.options;
    String head = "PRIVMSG " + user.seat.channel + " :";
    textAt = head.length();
    line = (head + " ".repeat(options.size()) + "\r\n").getBytes(StandardCharsets.US_ASCII);
    schedule =
        options.pacing() == Pacing.RATE
            ? new Schedule(options.seed(), user.seat.room, user.seat.user, options.rate())
            : null;
  }

  void runsIn(Thread thread) {
    this.thread = thread;
  }

  void writeTo(OutputStream out) {
    this.out = out;
  }

  /** Lets the user have said {@code count} messages in all. From the receiver. */
  void allow(int count) {
    if (count != allowed) {
      allowed = count;
      LockSupport.unpark(thread);
    }
  }

  /** Has a line written as soon as may be. From the receiver, which itself must never block. */
  void answer(byte[] bytes) {
    answers.add(bytes);
    LockSupport.unpark(thread);
  }

  void wakeIfAllowed() {
    if (allowed > 0) {
      LockSupport.unpark(thread);
    }
  }

  /** Says QUIT and ends. */
  void leave() {
    leaving = true;
    LockSupport.unpark(thread);
  }

  /** Writes registration lines; called by the receiver before this sender has started. */
  void writeNow(String text) throws IOException {
    out.write(text.getBytes(StandardCharsets.US_ASCII));
    out.flush();
  }

  void run() throws IOException {
    while (true) {
      byte[] answer = answers.poll();
      if (answer != null) {
        out.write(answer);
      } else if (leaving) {
        writeNow("QUIT\r\n");
        return;
      } else {
        speakOrWait();
      }
    }
  }

  private void speakOrWait() throws IOException {
    long dueNs = dueNs();
    if (dueNs == NOTHING_DUE) {
      rest();
      LockSupport.park(this);
      return;
    }
    long nowNs = user.gate.nowNs();
    if (dueNs > nowNs) {
      rest();
      LockSupport.parkNanos(this, dueNs - nowNs);
    } else {
      say(nowNs, dueNs);
    }
  }

  /** The moment of the next message, ns since the crowd's start; 0 if that is at once. */
  private long dueNs() {
    if (said >= allowed || !user.gate.isOpen()) {
      return NOTHING_DUE;
    }
    return schedule == null ? restUntilNs : user.gate.openedNs() + schedule.dueNs(said);
  }

  private void say(long nowNs, long dueNs) throws IOException {
    boolean scheduled = schedule != null;
    Seat seat = user.seat;
    Text.write(line, textAt, options.size(), seat.room, seat.user, said, scheduled ? dueNs : nowNs);
    if (scheduled) {
      user.lag.record(nowNs - dueNs);
    }
    out.write(line);
    out.flush();
    said++;
    user.said.lazySet(said);
    if (options.pauseNs() > 0) {
      restUntilNs = nowNs + options.pauseNs();
    }
  }

  /** A batch is out. */
  private void rest() {
    if (options.yield() && said > 0) {
      Thread.yield();
    }
  }
}
