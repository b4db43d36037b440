package org.klatch.server;

import java.io.IOException;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.util.concurrent.atomic.AtomicBoolean;
import org.klatch.chat.Framer;
import org.klatch.chat.ServerState;
import org.klatch.chat.Session;

/** A connection of an event loop. Methods are for its loop only, unless documented otherwise. */
final class LoopConnection implements AdmissionControl.Connection {
  /** When the connection is removed even with lines unsent; valid once closing. */
  long deadlineNs;

  private final EventLoop loop;
  private final AdmissionControl admission;
  private final SocketChannel channel;
  private final LoopSendQueue sendQueue;
  private final Session session;
  private final Framer framer = new Framer(2 * Framer.MAX_LINE);
  private final AtomicBoolean dirty = new AtomicBoolean();
  private volatile boolean expired;
  private SelectionKey key; // null until registered with the selector
  private boolean registered;
  private boolean closing; // the session has ended; its last lines are being sent
  private boolean inputEnded;
  private boolean outputEnded;
  private boolean removed;

  /** Creates a connection that is not yet in the loop. Callable from any thread. */
  LoopConnection(
      Socket socket,
      Options options,
      ServerState state,
      AdmissionControl admission,
      EventLoop loop) {
    this.loop = loop;
    this.admission = admission;
    channel = socket.getChannel();
    sendQueue = new LoopSendQueue(channel, options, this::markDirty);
    session = state.openSession(socket.getInetAddress().getHostAddress(), sendQueue);
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

  boolean removed() {
    return removed;
  }

  /** Handles events of the selector. */
  void handle(int ops, ByteBuffer buffer) {
    try {
      if ((ops & SelectionKey.OP_WRITE) != 0) {
        sendQueue.flushBlocked();
        markDirty();
      }
      if ((ops & SelectionKey.OP_READ) != 0) {
        read(buffer);
      }
    } catch (RuntimeException e) {
      lose("Internal error");
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
    if (expired && !session.registered()) {
      end("Registration timed out");
    } else if (sendQueue.state() == LoopSendQueue.State.OVERFLOWED) {
      end("SendQ exceeded");
    }
  }

  /** Writes the queued lines, and takes the next step of closing. */
  private void flushAndClose() throws IOException {
    boolean empty = sendQueue.flushUnlessBlocked();
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
    int ops = (inputEnded ? 0 : SelectionKey.OP_READ) | (empty ? 0 : SelectionKey.OP_WRITE);
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
      handleInput(buffer);
    }
  }

  private void handleInput(ByteBuffer input) {
    while (input.hasRemaining()) {
      int at = framer.fillAt();
      int count = Math.min(input.remaining(), framer.buffer().length - at);
      input.get(framer.buffer(), at, count);
      framer.filled(count);
      Framer.Event event;
      while ((event = framer.next()) != Framer.Event.NONE) {
        if (!session.handle(event, framer)) {
          end("Quit"); // no effect: the session has ended itself
          return;
        }
        if (!registered && session.registered()) {
          registered = true;
          admission.release(this);
        }
      }
    }
  }

  private void end(String reason) {
    session.end(reason); // no effect the second time
    sendQueue.endIfOverflowed(Rejection.closingLine(reason));
    if (!closing) {
      closing = true;
      admission.release(this);
      loop.beginClosing(this);
    }
  }

  private void lose(String reason) {
    session.end(reason);
    remove();
  }

  /** Closes the connection at once and drops its queued lines. */
  void remove() {
    removed = true;
    admission.release(this);
    try {
      channel.close();
    } catch (IOException e) {
      // the connection is unusable either way
    }
  }
}
