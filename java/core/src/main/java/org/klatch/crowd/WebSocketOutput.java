package org.klatch.crowd;

import java.io.IOException;
import java.io.OutputStream;
import java.util.Arrays;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.klatch.websocket.Frames;

/**
 * Sends each line as one WebSocket message, without its CR LF. A call of {@code write} takes whole
 * lines and makes one write of the socket.
 */
final class WebSocketOutput extends OutputStream {
  private static final int LEAST_CAPACITY = 1024;

  private final OutputStream socket;
  private final boolean text;
  private final SplittableRandom keys = new SplittableRandom(); // guarded by this
  private final Queue<byte[]> pings = new ConcurrentLinkedQueue<>(); // to be answered
  private byte[] frames = new byte[LEAST_CAPACITY]; // guarded by this
  private int size; // of the frames; guarded by this

  /**
   * Creates an output on an open connection.
   *
   * @param text whether messages have the type text; otherwise binary
   */
  WebSocketOutput(OutputStream socket, boolean text) {
    this.socket = socket;
    this.text = text;
  }

  /** Queues the answer to a ping; the next write sends it. Never blocks. */
  void queuePong(byte[] ping) {
    pings.add(ping);
  }

  /** Sends a close frame. Called by the receiver at the end, when the server reads to its end. */
  synchronized void writeClose(int code) {
    try {
      socket.write(Frames.maskedClose(code, keys.nextInt()));
    } catch (IOException e) {
      // the server has closed the connection already
    }
  }

  /** Writes the bytes of a handshake, before all frames. */
  void writeRequest(byte[] request) throws IOException {
    socket.write(request);
  }

  @Override
  public synchronized void write(byte[] lines, int from, int count) throws IOException {
    size = 0;
    byte[] ping;
    while ((ping = pings.poll()) != null) {
      byte[] pong = Frames.maskedPong(ping, ping.length, keys.nextInt());
      reserve(pong.length);
      System.arraycopy(pong, 0, frames, size, pong.length);
      size += pong.length;
    }
    int start = from;
    for (int at = from; at < from + count; at++) {
      if (lines[at] == '\n') {
        putLine(lines, start, at - 1); // the byte before LF is CR
        start = at + 1;
      }
    }
    socket.write(frames, 0, size);
  }

  /** Unsupported: a line is written as a whole. */
  @Override
  public void write(int b) {
    throw new UnsupportedOperationException();
  }

  private void putLine(byte[] lines, int from, int to) {
    reserve(Frames.MAX_HEAD + to - from);
    size = Frames.putMessage(frames, size, text, lines, from, to, keys.nextInt());
  }

  private void reserve(int count) {
    if (size + count > frames.length) {
      frames = Arrays.copyOf(frames, Math.max(size + count, 2 * frames.length));
    }
  }
}
