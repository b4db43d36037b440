package org.klatch.tls;

import java.nio.ByteBuffer;
import javax.net.ssl.SSLEngineResult.Status;
import javax.net.ssl.SSLException;
import org.klatch.service.ConnectionHandler;

/** Decrypts the input of one connection for the handler within TLS. */
final class TlsHandler implements ConnectionHandler {
  private final TlsConnection connection;
  private final Buffers buffers;
  private final ConnectionHandler plainHandler;
  private final ByteBuffer input = ByteBuffer.allocate(Buffers.BYTES); // filled up to its position

  TlsHandler(TlsConnection connection, Buffers buffers, ConnectionHandler plainHandler) {
    this.connection = connection;
    this.buffers = buffers;
    this.plainHandler = plainHandler;
  }

  @Override
  public byte[] buffer() {
    return input.array();
  }

  @Override
  public int fillAt() {
    return input.position();
  }

  @Override
  public boolean feed(int count, Runnable onHandled) {
    input.position(input.position() + count);
    input.flip();
    ByteBuffer plain = buffers.take();
    try {
      while (true) {
        plain.clear();
        int before = input.remaining();
        Status status = connection.unwrap(input, plain);
        plain.flip();
        if (plain.hasRemaining() && !plainHandler.feed(plain, onHandled)) {
          return false;
        }
        if (status == Status.CLOSED) {
          plainHandler.end("Connection closed");
          return false;
        }
        if (status == Status.BUFFER_UNDERFLOW || input.remaining() == before) {
          return true;
        }
      }
    } catch (SSLException e) {
      plainHandler.end("TLS error: " + e.getMessage());
      return false;
    } finally {
      buffers.giveBack(plain);
      input.compact();
    }
  }

  @Override
  public boolean registered() {
    return plainHandler.registered();
  }

  @Override
  public long incompleteRequest() {
    return plainHandler.incompleteRequest();
  }

  @Override
  public void end(String reason) {
    plainHandler.end(reason);
  }
}
