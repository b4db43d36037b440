package org.klatch.exchange;

import java.nio.ByteBuffer;
import org.klatch.service.ConnectionHandler;
import org.klatch.service.Outbox;
import org.klatch.service.Service;

/** The echo service (RFC 862): a client gets back exactly the bytes that it sends. */
public final class EchoService implements Service {
  @Override
  public ConnectionHandler open(String host, Outbox outbox, int bufferBytes) {
    return new Echo(outbox, bufferBytes);
  }

  @Override
  public boolean repliesOnly() {
    return true;
  }

  /** Returns no bytes: a client would take them for an echo. */
  @Override
  public byte[] closingLine(String reason) {
    return new byte[0];
  }

  private static final class Echo implements ConnectionHandler {
    private final Outbox outbox;
    private final ByteBuffer buffer;

    Echo(Outbox outbox, int bufferBytes) {
      this.outbox = outbox;
      buffer = ByteBuffer.allocate(bufferBytes);
    }

    @Override
    public byte[] buffer() {
      return buffer.array();
    }

    @Override
    public int fillAt() {
      return 0;
    }

    @Override
    public boolean feed(int count, Runnable onHandled) {
      return feed(buffer.clear().limit(count), onHandled);
    }

    @Override
    public boolean feed(ByteBuffer input, Runnable onHandled) {
      outbox.reply(input);
      onHandled.run();
      return true;
    }

    @Override
    public boolean registered() {
      return true;
    }

    @Override
    public void end(String reason) {
      outbox.close();
    }
  }
}
