package org.klatch.websocket;

import org.klatch.service.ConnectionHandler;
import org.klatch.service.Outbox;
import org.klatch.service.Service;

/**
 * A service of lines over WebSocket: each message contains one line without CR LF. Every I/O model
 * serves it like the plain one.
 */
public final class WebSocketService implements Service {
  private final Service lines;
  private final FrameCache texts = new FrameCache(true);
  private final FrameCache binaries = new FrameCache(false);

  /**
   * Creates the service.
   *
   * @param lines handles the lines of the connections, and sends whole lines only
   */
  public WebSocketService(Service lines) {
    this.lines = lines;
  }

  @Override
  public ConnectionHandler open(String host, Outbox outbox, int bufferBytes) {
    WebSocketOutbox framed = new WebSocketOutbox(outbox);
    ConnectionHandler handler = lines.open(host, framed, 0);
    return new WebSocketHandler(framed, handler, this::frames, bufferBytes);
  }

  @Override
  public boolean repliesOnly() {
    return lines.repliesOnly();
  }

  /**
   * Returns no bytes: the handshake may be incomplete. A client whose send queue has exceeded its
   * limit gets no close frame.
   */
  @Override
  public byte[] closingLine(String reason) {
    return new byte[0];
  }

  private FrameCache frames(Subprotocol subprotocol) {
    return subprotocol == Subprotocol.BINARY ? binaries : texts;
  }
}
