package org.klatch.server;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.concurrent.ThreadFactory;
import org.klatch.service.ConnectionHandler;
import org.klatch.service.Outbox;
import org.klatch.service.Service;

/**
 * A connection with one thread, for a service that only replies. The thread that receives a request
 * writes the reply, so no reply waits for another thread. While a write blocks, nothing is read.
 */
final class SingleThreadConnection implements Outbox, AdmissionControl.Connection {
  private static final int BUFFER_BYTES = 16 * 1024;

  private final Socket socket;
  private final Service service;
  private final ConnectionHandler handler;
  private final Thread thread;
  private final RequestClock request;
  private final WriteWatch watch;
  private final WriteWatch.Writes writes;
  private volatile boolean expired;

  SingleThreadConnection(
      Socket socket,
      Service service,
      AdmissionControl admission,
      WriteWatch watch,
      ThreadFactory threads) {
    this.socket = socket;
    this.watch = watch;
    writes = new WriteWatch.Writes(socket);
    request = new RequestClock(admission, this);
    this.service = service;
    String host = socket.getInetAddress().getHostAddress();
    handler = service.open(host, this, BUFFER_BYTES);
    thread = threads.newThread(this::serve);
    thread.setName("connection " + host + ":" + socket.getPort());
  }

  /**
   * Starts the thread.
   *
   * @throws OutOfMemoryError if it cannot be created; the connection is closed then
   */
  void start() {
    try {
      thread.start();
    } catch (OutOfMemoryError noThread) {
      Rejection.reject(socket, service.closingLine("Out of threads"));
      throw noThread;
    }
  }

  /** Wakes the thread: its read returns end of file. */
  @Override
  public void expire() {
    expired = true;
    try {
      socket.shutdownInput();
    } catch (IOException e) {
      // the input has ended already, so the thread is awake
    }
  }

  private void serve() {
    String reason = "Internal error"; // if an unexpected exception ends it
    watch.add(writes);
    try (socket) {
      if (!read()) {
        linger();
      }
      reason = "Connection closed";
    } catch (IOException | UncheckedIOException e) {
      reason = "Connection reset";
    } finally {
      watch.remove(writes);
      handler.end(reason);
      request.follow(handler);
    }
  }

  /** Reads and handles input until the end; false if it was the handler that ended it. */
  private boolean read() throws IOException {
    InputStream in = socket.getInputStream();
    byte[] buffer = handler.buffer();
    boolean goesOn = true;
    while (goesOn) {
      int at = handler.fillAt();
      int count = in.read(buffer, at, buffer.length - at);
      if (count < 0 && expired && request.isRunning()) {
        handler.expire("Request timed out");
        return false;
      }
      if (count < 0) {
        return true;
      }
      goesOn = handler.feed(count, () -> {});
      request.follow(handler);
    }
    return false;
  }

  /** Ends the output, and gives the client time to close. */
  private void linger() throws IOException {
    socket.shutdownOutput();
    Linger.discardInput(socket, handler.buffer());
  }

  @Override
  public void send(byte[] line) {
    write(line, 0, line.length);
  }

  /** Writes the reply before it returns. The buffer must have an array. */
  @Override
  public void reply(ByteBuffer bytes) {
    write(bytes.array(), bytes.arrayOffset() + bytes.position(), bytes.remaining());
    bytes.position(bytes.limit());
  }

  /** Does nothing: all replies are written, and {@link #serve} closes the socket. */
  @Override
  public void close() {}

  private void write(byte[] bytes, int start, int count) {
    try {
      OutputStream out = socket.getOutputStream();
      int at = start;
      for (int left = count; left > 0; ) {
        int part = Math.min(left, WriteWatch.WRITE_BYTES_MAX);
        writes.begin();
        out.write(bytes, at, part);
        writes.end();
        at += part;
        left -= part;
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
