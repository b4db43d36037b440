package org.klatch.server;

import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.util.concurrent.ThreadFactory;
import org.klatch.chat.Framer;
import org.klatch.chat.ServerState;
import org.klatch.chat.Session;

/** A connection with a receiver thread and a sender thread. */
final class ThreadedConnection implements AdmissionControl.Connection {
  private static final int BUFFER_BYTES = 4096;
  private static final long GRACE_MS = 1000;

  private final Socket socket;
  private final Options options;
  private final ThreadSendQueue queue;
  private final Session session;
  private final AdmissionControl admission;
  private final Thread receiver;
  private final Thread sender;
  private volatile boolean expired;

  ThreadedConnection(
      Socket socket,
      Options options,
      ServerState state,
      AdmissionControl admission,
      ThreadFactory threads) {
    this.socket = socket;
    this.options = options;
    this.admission = admission;
    String host = socket.getInetAddress().getHostAddress();
    String peer = host + ":" + socket.getPort();
    queue = new ThreadSendQueue(options.sendqBytes(), options.yield(), this::stopReading);
    session = state.openSession(host, queue);
    receiver = threads.newThread(this::receive);
    receiver.setName("receiver " + peer);
    sender = threads.newThread(this::send);
    sender.setName("sender " + peer);
  }

  /**
   * Starts both threads.
   *
   * @throws OutOfMemoryError if no thread can be created; the connection is closed then
   */
  void start() {
    try {
      sender.start();
      receiver.start();
    } catch (OutOfMemoryError noThread) {
      Rejection.reject(socket, "Out of threads");
      queue.close(); // ends the sender if it has started
      throw noThread;
    }
  }

  @Override
  public void expire() {
    expired = true;
    stopReading();
  }

  private void receive() {
    String reason = "Internal error"; // if an unexpected exception ends it
    try {
      read();
      reason = "Connection closed";
    } catch (IOException e) {
      reason = "Connection reset";
    } finally {
      admission.release(this);
      if (expired) {
        reason = "Registration timed out";
      } else if (queue.overflowed()) {
        reason = "SendQ exceeded";
      }
      session.end(reason);
      queue.endIfOverflowed(Rejection.closingLine(reason));
      finish();
    }
  }

  /** Reads and handles input until the connection or the session ends. */
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
          admission.release(this);
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
      stopReading(); // the receiver then ends the session
    }
  }

  /** Wakes the receiver: its read returns end of file. */
  private void stopReading() {
    try {
      socket.shutdownInput();
    } catch (IOException e) {
      // the input has ended already, so the receiver is awake
    }
  }

  /** Waits for the last lines to be sent and the client to close, up to GRACE_MS for each. */
  private void finish() {
    try {
      sender.join(GRACE_MS);
      if (!sender.isAlive()) {
        discardInput();
      }
    } catch (InterruptedException | IOException e) {
      // the socket is closed below
    }
    closeSocket();
  }

  /**
   * Reads until the client closes. Closing with unread bytes would reset the connection, and the
   * client would lose the last line.
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
      // the connection is unusable either way
    }
  }
}
