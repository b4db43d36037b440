package org.klatch.adapters;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.ArrayDeque;
import java.util.concurrent.locks.ReentrantLock;
import org.klatch.server.AdmissionControl;
import org.klatch.server.Rejection;
import org.klatch.service.ConnectionHandler;
import org.klatch.service.Outbox;
import org.klatch.websocket.CloseCode;
import org.klatch.websocket.MessageFeeder;

/**
 * A connection on the WebSocket of another project, with a bounded send queue. At most one write is
 * under way, and the end of it starts the next: each line is a message and a write of its own.
 */
abstract class ChatSocket implements Outbox, AdmissionControl.Connection {
  private static final byte[] CLOSE = {}; // in the queue: close the WebSocket
  private static final int LINE_END = 2; // bytes of CR LF

  private final ChatSockets server;
  private final ConnectionHandler handler;
  private final ReentrantLock handling = new ReentrantLock(); // for calls of the handler
  private boolean ended; // guarded by handling
  private final ReentrantLock queue = new ReentrantLock(); // guards the fields below
  private final ArrayDeque<byte[]> lines = new ArrayDeque<>();
  private int queuedBytes; // includes the line that is being written
  private int writingBytes;
  private boolean writing; // from the start of a write until its end is reported
  private boolean pumping; // a thread is in the loop of pump()
  private boolean closed; // further lines are dropped
  private volatile int closeCode = CloseCode.NORMAL;

  ChatSocket(ChatSockets server, String host) {
    this.server = server;
    handler = server.lines.open(host, this, 0);
  }

  /** Starts to write a message, and calls {@link #written} or {@link #lost} at its end. */
  abstract void write(byte[] line, int size);

  /** Closes the WebSocket with a close frame. */
  abstract void closeWith(int code);

  /** Closes the connection at once. */
  abstract void abort();

  static String text(byte[] line, int size) {
    return new String(line, 0, size, UTF_8);
  }

  /** Applies the limit of unregistered connections. */
  final void opened() {
    if (!server.admission.admit(this)) {
      end(Rejection.TOO_MANY);
    }
  }

  /** Handles a message. */
  final void receive(byte[] message) {
    handling.lock();
    try {
      if (ended) {
        return;
      }
      if (MessageFeeder.hasLineBreak(message, message.length)) {
        closeCode = CloseCode.POLICY_VIOLATION;
        end("WebSocket error: a line break in a message");
      } else if (!MessageFeeder.feed(handler, message, message.length, this::onHandled)) {
        end("Quit"); // no effect on the handler, which has ended itself
      }
    } finally {
      handling.unlock();
    }
  }

  private void onHandled() {
    if (handler.registered()) {
      server.admission.release(this);
    }
  }

  /**
   * Reports the end of the connection, or a write that failed: which of the two a stack reports
   * first when a client leaves is chance, so both give the room the same reason. Callable with any
   * locks held.
   */
  final void lost() {
    lost("Connection closed");
  }

  private void lost(String reason) {
    server.later(() -> end(reason));
  }

  @Override
  public final void expire() {
    end("Registration timed out");
  }

  private void end(String reason) {
    handling.lock();
    try {
      if (!ended) {
        ended = true;
        server.admission.release(this);
        handler.end(reason);
        server.afterGrace(this::abort);
      }
    } finally {
      handling.unlock();
    }
  }

  @Override
  public final void send(byte[] line) {
    queue.lock();
    try {
      if (closed || closeCode != CloseCode.NORMAL) {
        return;
      }
      if (queuedBytes + line.length > server.options.sendqBytes()) {
        closed = true;
        lost("SendQ exceeded");
        return;
      }
      queuedBytes += line.length;
      lines.add(line);
    } finally {
      queue.unlock();
    }
    pump();
  }

  @Override
  public final boolean isOpen() {
    queue.lock();
    try {
      return !closed && closeCode == CloseCode.NORMAL;
    } finally {
      queue.unlock();
    }
  }

  @Override
  public final void close() {
    queue.lock();
    try {
      closed = true;
      lines.add(CLOSE);
    } finally {
      queue.unlock();
    }
    pump();
  }

  /** Reports that a write has ended. */
  final void written() {
    queue.lock();
    try {
      queuedBytes -= writingBytes;
      writing = false;
    } finally {
      queue.unlock();
    }
    pump();
  }

  /** Writes lines for as long as their writes end at once. A loop, since those would recurse. */
  private void pump() {
    for (byte[] line = next(false); line != null; line = next(true)) {
      if (line == CLOSE) {
        server.later(() -> closeWith(closeCode));
      } else {
        write(line, line.length - LINE_END);
      }
    }
  }

  /**
   * Returns what to write now, or null.
   *
   * @param again whether the caller has started the write before
   */
  private byte[] next(boolean again) {
    queue.lock();
    try {
      pumping &= !again;
      if (pumping || writing || lines.isEmpty()) {
        return null;
      }
      pumping = writing = true;
      byte[] line = lines.poll();
      writingBytes = line.length;
      return line;
    } finally {
      queue.unlock();
    }
  }
}
