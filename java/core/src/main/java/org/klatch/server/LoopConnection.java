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

/** One connection of an event loop. What is not said to be for any thread is for its loop only. */
final class LoopConnection implements HalfOpen.Guest {
  /** When it is removed whatever waits; once it is closing. */
  long deadlineNs;

  private final EventLoop loop;
  private final HalfOpen halfOpen;
  private final SocketChannel channel;
  private final Outlet outlet;
  private final Session session;
  private final Framer framer = new Framer(2 * Framer.MAX_LINE);
  private final AtomicBoolean noted = new AtomicBoolean();
  private volatile boolean expired;
  private SelectionKey key; // null until the loop has it
  private boolean registered;
  private boolean closing; // the session is over; its last lines are on their way
  private boolean inputOver;
  private boolean outputOver;
  private boolean gone;

  /** Makes a connection of which the loop does not know; from any thread. */
  LoopConnection(
      Socket socket, Options options, ServerState state, HalfOpen halfOpen, EventLoop loop) {
    this.loop = loop;
    this.halfOpen = halfOpen;
    channel = socket.getChannel();
    outlet = new Outlet(channel, options, this::note);
    session = state.openSession(socket.getInetAddress().getHostAddress(), outlet);
  }

  /** Has its loop look after it; from any thread. */
  void note() {
    if (!noted.get() && noted.compareAndSet(false, true)) {
      loop.note(this);
    }
  }

  @Override
  public void expire() {
    expired = true;
    note();
  }

  boolean gone() {
    return gone;
  }

  /** Something happened to it. */
  void serve(int ops, ByteBuffer buffer) {
    try {
      if ((ops & SelectionKey.OP_WRITE) != 0) {
        outlet.flushJam();
        note();
      }
      if ((ops & SelectionKey.OP_READ) != 0) {
        read(buffer);
      }
    } catch (RuntimeException e) {
      lose("Internal error");
    }
  }

  /** It was noted. */
  void lookAfter() {
    noted.set(false);
    if (gone) {
      return;
    }
    try {
      if (key == null) {
        channel.configureBlocking(false);
        key = channel.register(loop.selector(), SelectionKey.OP_READ, this);
      }
      if (!closing) {
        endIfItMust();
      }
      letOut();
    } catch (IOException | RuntimeException e) {
      lose(e instanceof IOException ? "Connection reset" : "Internal error");
    }
  }

  private void endIfItMust() {
    if (expired && !session.registered()) {
      end("Registration timed out");
    } else if (outlet.state() == Outlet.State.OVERFLOWED) {
      end("SendQ exceeded");
    }
  }

  /** Writes what waits, and goes on with the end of a connection that is closing. */
  private void letOut() throws IOException {
    boolean empty = outlet.flushUnlessJammed();
    if (outlet.state() == Outlet.State.BROKEN) {
      lose("Connection reset");
      return;
    }
    if (closing && empty) {
      if (inputOver) {
        remove();
        return;
      }
      if (!outputOver) {
        // The other side closes first: closing with bytes unread would reset the connection.
        outputOver = true;
        channel.shutdownOutput();
        loop.beginClosing(this);
      }
    }
    int ops = (inputOver ? 0 : SelectionKey.OP_READ) | (empty ? 0 : SelectionKey.OP_WRITE);
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
      inputOver = true;
      end("Connection closed");
      note();
    } else if (!closing) {
      buffer.flip();
      take(buffer);
    }
  }

  private void take(ByteBuffer input) {
    while (input.hasRemaining()) {
      int at = framer.fillAt();
      int count = Math.min(input.remaining(), framer.buffer().length - at);
      input.get(framer.buffer(), at, count);
      framer.filled(count);
      Framer.Event event;
      while ((event = framer.next()) != Framer.Event.NONE) {
        if (!session.handle(event, framer)) {
          end("Quit"); // the session has said so itself
          return;
        }
        if (!registered && session.registered()) {
          registered = true;
          halfOpen.left(this);
        }
      }
    }
  }

  private void end(String reason) {
    session.end(reason); // only the first time
    outlet.endIfOverflowed(Refusal.line(reason));
    if (!closing) {
      closing = true;
      halfOpen.left(this);
      loop.beginClosing(this);
    }
  }

  private void lose(String reason) {
    session.end(reason);
    remove();
  }

  /** Closes it at once, whatever waits. */
  void remove() {
    gone = true;
    halfOpen.left(this);
    try {
      channel.close();
    } catch (IOException e) {
      // nothing can be done about it, and nobody would want to know
    }
  }
}
