package org.klatch.chat;

import org.klatch.service.ConnectionHandler;
import org.klatch.service.Outbox;

/** A session and the framer of its input. */
final class ChatHandler implements ConnectionHandler {
  private final Session session;
  private final Framer framer;

  ChatHandler(ServerState state, String host, Outbox outbox, int bufferBytes) {
    session = state.openSession(host, outbox);
    framer = new Framer(bufferBytes);
  }

  @Override
  public byte[] buffer() {
    return framer.buffer();
  }

  @Override
  public int fillAt() {
    return framer.fillAt();
  }

  @Override
  public boolean feed(int count, Runnable onHandled) {
    framer.filled(count);
    Framer.Event event;
    while ((event = framer.next()) != Framer.Event.NONE) {
      if (!session.handle(event, framer)) {
        return false;
      }
      onHandled.run();
    }
    return true;
  }

  @Override
  public boolean registered() {
    return session.registered();
  }

  @Override
  public void end(String reason) {
    session.end(reason);
  }
}
