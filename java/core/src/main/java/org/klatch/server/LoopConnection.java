package org.klatch.server;

import java.io.IOException;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.util.concurrent.atomic.AtomicBoolean;
import org.klatch.service.ConnectionHandler;
import org.klatch.service.Service;

/** A connection of an event loop. Methods are for its loop only, unless documented otherwise. */
final class LoopConnection implements AdmissionControl.Connection {
  /** When the connection is removed even with lines unsent; valid once closing. */
  long deadlineNs;

  private final EventLoop loop;
  private final AdmissionControl admission;
  private final SocketChannel channel;
  private final LoopSendQueue sendQueue;
  private final Service service;
  private final ConnectionHandler handler;
  private final Runnable onHandled = this::onHandled;
  private final AtomicBoolean dirty = new AtomicBoolean();
  private final RequestClock request;
  private final AdmissionControl.Connection stall = this::expireStall;
  private volatile boolean expired;
  private volatile boolean stalled; // it took no bytes for too long
  private boolean blocked; // bytes wait for the socket
  private SelectionKey key; // null until registered with the selector
  private boolean registered;
  private boolean closing; // the last lines are being sent
  private boolean inputEnded;
  private boolean outputEnded;
  private boolean removed;

  /** Creates a connection that is not yet in the loop. Callable from any thread. */
  LoopConnection(
      Socket socket, Options options, Service service, AdmissionControl admission, EventLoop loop) {
    this.loop = loop;
    this.admission = admission;
    this.service = service;
    channel = socket.getChannel();
    sendQueue = new LoopSendQueue(channel, options, this::markDirty);
    handler = service.open(socket.getInetAddress().getHostAddress(), sendQueue, 0);
    registered = handler.registered();
    request = new RequestClock(admission, this);
  }

  /** Makes its loop service this connection. Callable from any thread. */
  void markDirty() {
    if (!dirty.get() && dirty.compareAndSet(false, true)) {
      loop.markDirty(this);
    }
  }

  @Override
  public void expire() {
    expired = true;
    markDirty();
  }

  private void expireStall() {
    stalled = true;
    markDirty();
  }

  /** Whether the half-open limits do not apply to it. */
  boolean registered() {
    return registered;
  }

  boolean removed() {
    return removed;
  }

  /** Handles events of the selector. */
  void handle(int ops, ByteBuffer buffer) {
    try {
      if ((ops & SelectionKey.OP_WRITE) != 0) {
        sendQueue.flushBlocked();
        limitStall(blocked); // it has taken some, which starts its time anew
        markDirty();
      }
      if ((ops & SelectionKey.OP_READ) != 0) {
        read(buffer);
      }
    } catch (RuntimeException e) {
      lose("Internal error");
    }
  }

  /** Limits the time until the socket takes bytes again, or no longer. */
  private void limitStall(boolean isBlocked) {
    blocked = isBlocked;
    stalled = false;
    if (isBlocked) {
      admission.restart(stall);
    } else {
      admission.release(stall);
    }
  }

  /** Handles what other threads requested by {@link #markDirty}. */
  void service() {
    dirty.set(false);
    if (removed) {
      return;
    }
    try {
      if (key == null) {
        channel.configureBlocking(false);
        key = channel.register(loop.selector(), SelectionKey.OP_READ, this);
      }
      if (!closing) {
        endIfRequired();
      }
      flushAndClose();
    } catch (IOException | RuntimeException e) {
      lose(e instanceof IOException ? "Connection reset" : "Internal error");
    }
  }

  private void endIfRequired() {
    if (expired && !registered) {
      end("Registration timed out");
    } else if (expired && request.isRunning()) {
      handler.expire("Request timed out");
      end("Request timed out");
    } else if (sendQueue.state() == LoopSendQueue.State.OVERFLOWED) {
      end("SendQ exceeded");
    }
  }

  /** Writes the queued lines, and takes the next step of closing. */
  private void flushAndClose() throws IOException {
    if (stalled && blocked) {
      lose("Connection reset");
      return;
    }
    boolean empty = sendQueue.flushUnlessBlocked();
    if (blocked == empty) {
      limitStall(!empty);
    }
    if (sendQueue.state() == LoopSendQueue.State.BROKEN) {
      lose("Connection reset");
      return;
    }
    if (closing && empty) {
      if (inputEnded) {
        remove();
        return;
      }
      if (!outputEnded) {
        // The client closes first: closing with unread bytes would reset the connection.
        outputEnded = true;
        channel.shutdownOutput();
        loop.beginClosing(this);
      }
    }
    // While a reply is unsent, further requests stay in the kernel, so the queue is bounded.
    boolean reading = !inputEnded && (empty || !service.repliesOnly());
    int ops = (reading ? SelectionKey.OP_READ : 0) | (empty ? 0 : SelectionKey.OP_WRITE);
    if (ops != key.interestOps()) {
      key.interestOps(ops);
    }
  }

  private void read(ByteBuffer buffer) {
    buffer.clear();
    int count;
    try {
      count = channel.read(buffer);
    } catch (IOException e) {
      lose("Connection reset");
      return;
    }
    if (count < 0) {
      inputEnded = true;
      end("Connection closed");
      markDirty();
    } else if (!closing) {
      buffer.flip();
      if (!handler.feed(buffer, onHandled)) {
        end("Quit"); // no effect on the handler, which has ended itself
        return;
      }
      request.follow(handler);
    }
  }

  private void onHandled() {
    if (!registered && handler.registered()) {
      registered = true;
      admission.release(this);
    }
  }

  private void end(String reason) {
    handler.end(reason); // no effect the second time
    sendQueue.endIfOverflowed(service.closingLine(reason));
    if (!closing) {
      closing = true;
      admission.release(this);
      // The last reply may be a large file for a slow line: it has no deadline.
      if (!service.repliesOnly()) {
        loop.beginClosing(this);
      }
    }
  }

  private void lose(String reason) {
    handler.end(reason);
    remove();
  }

  /** Closes the connection at once and drops its queued lines. */
  void remove() {
    removed = true;
    admission.release(this);
    admission.release(stall);
    try {
      channel.close();
    } catch (IOException e) {
      // the connection is unusable either way
    }
  }
}
