package org.klatch.server;

import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.util.concurrent.ThreadFactory;
import org.klatch.service.ConnectionHandler;
import org.klatch.service.Service;

/** A connection with a receiver thread and a sender thread. */
final class ThreadedConnection implements AdmissionControl.Connection {
  private static final int BUFFER_BYTES = 4096;
  private static final long GRACE_MS = 1000;

  private final Socket socket;
  private final Options options;
  private final ThreadSendQueue queue;
  private final Service service;
  private final ConnectionHandler handler;
  private final AdmissionControl admission;
  private final WriteWatch watch;
  private final WriteWatch.Writes writes;
  private final Thread receiver;
  private final Thread sender;
  private volatile boolean expired;
  private boolean registered; // used by the receiver only

  ThreadedConnection(
      Socket socket,
      Options options,
      Service service,
      AdmissionControl admission,
      WriteWatch watch,
      ThreadFactory threads) {
    this.socket = socket;
    this.options = options;
    this.service = service;
    this.admission = admission;
    this.watch = watch;
    writes = new WriteWatch.Writes(socket);
    String host = socket.getInetAddress().getHostAddress();
    String peer = host + ":" + socket.getPort();
    queue = new ThreadSendQueue(options.sendqBytes(), options.yield(), this::stopReading);
    handler = service.open(host, queue, BUFFER_BYTES);
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
      admission.release(this);
      Rejection.reject(socket, service.closingLine("Out of threads"));
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
      handler.end(reason);
      queue.endIfOverflowed(service.closingLine(reason));
      finish();
    }
  }

  /** Reads and handles input until the connection ends. */
  private void read() throws IOException {
    InputStream in = socket.getInputStream();
    Runnable onHandled = this::onHandled;
    byte[] buffer = handler.buffer();
    while (true) {
      int at = handler.fillAt();
      int count = in.read(buffer, at, buffer.length - at);
      if (count < 0 || expired || queue.overflowed()) {
        return;
      }
      if (!handler.feed(count, onHandled)) {
        return;
      }
    }
  }

  private void onHandled() {
    if (!registered && handler.registered()) {
      registered = true;
      admission.release(this);
    }
    if (options.yield()) {
      Thread.yield();
    }
  }

  private void send() {
    watch.add(writes);
    try {
      queue.drainTo(socket.getOutputStream(), writes);
      socket.shutdownOutput();
    } catch (IOException e) {
      stopReading(); // the receiver then ends the connection
    } finally {
      watch.remove(writes);
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

  /** Waits for the last lines to be sent, up to GRACE_MS, and then for the client to close. */
  private void finish() {
    try {
      sender.join(GRACE_MS);
      if (!sender.isAlive()) {
        Linger.discardInput(socket, new byte[BUFFER_BYTES]);
      }
    } catch (InterruptedException | IOException e) {
      // the socket is closed below
    }
    closeSocket();
  }

  private void closeSocket() {
    try {
      socket.close();
    } catch (IOException e) {
      // the connection is unusable either way
    }
  }
}
