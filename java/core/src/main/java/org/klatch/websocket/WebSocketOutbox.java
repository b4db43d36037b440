package org.klatch.websocket;

import org.klatch.service.Outbox;

/** Puts each line for a connection into a message. */
final class WebSocketOutbox implements Outbox {
  private final Outbox connection;
  private FrameCache frames; // null before the handshake, when no other connection has this outbox
  private byte[] closeFrame = Frames.close(CloseCode.NORMAL);
  private volatile boolean muted;

  WebSocketOutbox(Outbox connection) {
    this.connection = connection;
  }

  /** Ends the handshake. Lines sent before are dropped. */
  void open(byte[] response, FrameCache frames) {
    connection.send(response);
    this.frames = frames;
  }

  /** Answers a handshake that fails. */
  void refuse(byte[] response) {
    connection.send(response);
  }

  /** Sends a whole frame other than a line. */
  void sendFrame(byte[] frame) {
    connection.send(frame);
  }

  /**
   * Drops later lines, so that the close frame with this code is the next frame. {@link #close}
   * sends it. A line that another connection is sending right now may follow it; clients ignore
   * that.
   */
  void mute(int closeCode) {
    closeFrame = Frames.close(closeCode);
    muted = true;
  }

  @Override
  public void send(byte[] line) {
    if (frames != null && !muted) {
      connection.send(frames.frame(line));
    }
  }

  @Override
  public boolean isOpen() {
    return !muted && connection.isOpen();
  }

  @Override
  public void close() {
    if (frames != null) {
      connection.send(closeFrame);
    }
    connection.close();
  }
}
