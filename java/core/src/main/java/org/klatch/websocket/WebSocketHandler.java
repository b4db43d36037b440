package org.klatch.websocket;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.util.function.Function;
import org.klatch.service.ConnectionHandler;

/** The handshake and the frames of one connection, around the handler of its lines. */
final class WebSocketHandler implements ConnectionHandler {
  /** Most bytes of a message. */
  static final int MAX_MESSAGE = 16 * 1024;

  private static final int LEAST_BUFFER = 2 * 1024;

  private final byte[] buffer;
  private final WebSocketOutbox outbox;
  private final ConnectionHandler lines;
  private final Function<Subprotocol, FrameCache> frames;
  private final FrameDecoder decoder = new FrameDecoder(true, MAX_MESSAGE);
  private HeadReader head = new HeadReader(); // null after the handshake
  private boolean ended;

  /**
   * Creates a handler that waits for the handshake.
   *
   * @param lines handles the lines, and sends its own to {@code outbox}
   * @param frames returns the cache for an agreed subprotocol, or for null
   */
  WebSocketHandler(
      WebSocketOutbox outbox,
      ConnectionHandler lines,
      Function<Subprotocol, FrameCache> frames,
      int bufferBytes) {
    this.outbox = outbox;
    this.lines = lines;
    this.frames = frames;
    buffer = new byte[Math.max(bufferBytes, LEAST_BUFFER)];
  }

  @Override
  public byte[] buffer() {
    return buffer;
  }

  /** Returns 0: each call of {@link #feed} consumes the buffer. */
  @Override
  public int fillAt() {
    return 0;
  }

  @Override
  public boolean feed(int count, Runnable onHandled) {
    int at = 0;
    if (head != null) {
      at = head.read(buffer, 0, count);
      if (at == HeadReader.INCOMPLETE && !head.isTooLong()) {
        return true;
      }
      if (!shakeHands()) {
        return false;
      }
    }
    decoder.feed(buffer, at, count);
    return handleFrames(onHandled);
  }

  private boolean shakeHands() {
    ServerHandshake.Answer answer = ServerHandshake.answer(head);
    head = null;
    byte[] response = answer.response().getBytes(US_ASCII);
    if (!answer.accepted()) {
      outbox.refuse(response);
      end("WebSocket handshake failed");
      return false;
    }
    outbox.open(response, frames.apply(answer.subprotocol()));
    return true;
  }

  private boolean handleFrames(Runnable onHandled) {
    while (!ended) {
      switch (decoder.next()) {
        case TEXT, BINARY -> handleMessage(onHandled);
        case PING -> outbox.sendFrame(Frames.pong(decoder.bytes(), decoder.size()));
        case PONG -> {}
        case CLOSE -> close(decoder.code(), "Connection closed");
        case ERROR -> close(decoder.code(), "WebSocket error: " + decoder.reason());
        case NONE -> {
          return true;
        }
      }
    }
    return false;
  }

  /** Passes a message on as a line. */
  private void handleMessage(Runnable onHandled) {
    byte[] message = decoder.bytes();
    int size = decoder.size();
    if (MessageFeeder.hasLineBreak(message, size)) {
      close(CloseCode.POLICY_VIOLATION, "WebSocket error: a line break in a message");
    } else if (!MessageFeeder.feed(lines, message, size, onHandled)) {
      ended = true;
    }
  }

  private void close(int code, String reason) {
    outbox.mute(code);
    end(reason);
  }

  @Override
  public boolean registered() {
    return lines.registered();
  }

  @Override
  public long incompleteRequest() {
    return lines.incompleteRequest();
  }

  @Override
  public void end(String reason) {
    ended = true;
    lines.end(reason);
  }
}
