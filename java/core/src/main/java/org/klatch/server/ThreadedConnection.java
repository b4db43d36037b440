package org.klatch.server;

import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.util.concurrent.ThreadFactory;
import org.klatch.chat.Framer;
import org.klatch.chat.ServerState;
import org.klatch.chat.Session;

/** One connection of the classic server: a receiver thread and a sender thread. */
final class ThreadedConnection implements HalfOpen.Guest {
  private static final int BUFFER_BYTES = 4096;
  private static final long GRACE_MS = 1000;

  private final Socket socket;
  private final Options options;
  private final SendQueue queue;
  private final Session session;
  private final HalfOpen halfOpen;
  private final Thread receiver;
  private final Thread sender;
  private volatile boolean expired;

  ThreadedConnection(
      Socket socket, Options options, ServerState state, HalfOpen halfOpen, ThreadFactory threads) {
    this.socket = socket;
    this.options = options;
    this.halfOpen = halfOpen;
    String host = socket.getInetAddress().getHostAddress();
    String peer = host + ":" + socket.getPort();
    queue = new SendQueue(options.sendqBytes(), options.yield(), this::stopReading);
    session = state.openSession(host, queue);
    receiver = threads.newThread(this::receive);
    receiver.setName("receiver " + peer);
    sender = threads.newThread(this::send);
    sender.setName("sender " + peer);
  }

  /**
   * Starts both threads.
   *
   * @throws OutOfMemoryError if the system has no thread left; the connection is closed then
   */
  void start() {
    try {
      sender.start();
      receiver.start();
    } catch (OutOfMemoryError noThread) {
      Refusal.send(socket, "Out of threads");
      queue.close(); // ends the sender, if that has started
      throw noThread;
    }
  }

  @Override
  public void expire() {
    expired = true;
    stopReading();
  }

  private void receive() {
    String reason = "Internal error"; // unless it ends in one of the ways below
    try {
      read();
      reason = "Connection closed";
    } catch (IOException e) {
      reason = "Connection reset";
    } finally {
      halfOpen.left(this);
      if (expired) {
        reason = "Registration timed out";
      } else if (queue.overflowed()) {
        reason = "SendQ exceeded";
      }
      session.end(reason);
      queue.endIfOverflowed(Refusal.line(reason));
      finish();
    }
  }

  /** Reads and handles until the end of the connection or of the session. */
  private void read() throws IOException {
    InputStream in = socket.getInputStream();
    Framer framer = new Framer(BUFFER_BYTES);
    boolean registered = false;
    while (true) {
      int at = framer.fillAt();
      int count = in.read(framer.buffer(), at, framer.buffer().length - at);
      if (count < 0 || expired || queue.overflowed()) {
        return;
      }
      framer.filled(count);
      Framer.Event event;
      while ((event = framer.next()) != Framer.Event.NONE) {
        if (!session.handle(event, framer)) {
          return;
        }
        if (!registered && session.registered()) {
          registered = true;
          halfOpen.left(this);
        }
        if (options.yield()) {
          Thread.yield();
        }
      }
    }
  }

  private void send() {
    try {
      queue.drainTo(socket.getOutputStream());
      socket.shutdownOutput();
    } catch (IOException e) {
      stopReading(); // the connection is broken, and the receiver ends it
    }
  }

  /** Wakes the receiver with an end of input. */
  private void stopReading() {
    try {
      socket.shutdownInput();
    } catch (IOException e) {
      // then it has ended already, and the receiver is awake
    }
  }

  /** Lets the last words out and the other side close first, but waits for neither long. */
  private void finish() {
    try {
      sender.join(GRACE_MS);
      if (!sender.isAlive()) {
        discardInput();
      }
    } catch (InterruptedException | IOException e) {
      // closed below, which is all that is left to do
    }
    closeSocket();
  }

  /**
   * Closing with bytes unread would reset the connection, and the other side would lose the reason.
   */
  private void discardInput() throws IOException {
    long end = System.nanoTime() + GRACE_MS * 1_000_000;
    byte[] rest = new byte[BUFFER_BYTES];
    int left;
    do {
      left = (int) ((end - System.nanoTime()) / 1_000_000);
      socket.setSoTimeout(Math.max(1, left));
    } while (left > 0 && socket.getInputStream().read(rest) >= 0);
  }

  private void closeSocket() {
    try {
      socket.close();
    } catch (IOException e) {
      // nothing can be done about it, and nobody would want to know
    }
  }
}
