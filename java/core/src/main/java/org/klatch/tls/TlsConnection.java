package org.klatch.tls;

import java.nio.ByteBuffer;
import java.util.concurrent.locks.ReentrantLock;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLEngineResult.HandshakeStatus;
import javax.net.ssl.SSLException;
import org.klatch.service.Outbox;

/**
 * The engine of one connection, and the outbox of the handler within TLS.
 *
 * <p>A record is encrypted and queued under one lock, so records are queued in the order of their
 * numbers. The lock is never held while the handler runs: its room would take the locks of others.
 */
final class TlsConnection implements Outbox {
  private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

  private final SSLEngine engine;
  private final Buffers buffers;
  private final Outbox connection;
  private final ReentrantLock lock = new ReentrantLock();
  private boolean established; // lines sent before are dropped
  private boolean closed;

  TlsConnection(SSLEngine engine, Buffers buffers, Outbox connection) {
    this.engine = engine;
    this.buffers = buffers;
    this.connection = connection;
  }

  /**
   * Decrypts a record, and sends what the handshake requires.
   *
   * @param plain receives the contents; has room for a record
   * @throws SSLException if the client breaks TLS; the alert is sent
   */
  SSLEngineResult.Status unwrap(ByteBuffer records, ByteBuffer plain) throws SSLException {
    lock.lock();
    try {
      SSLEngineResult result = engine.unwrap(records, plain);
      note(result);
      continueHandshake();
      return result.getStatus();
    } catch (SSLException e) {
      sendAlert();
      throw e;
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void send(byte[] line) {
    lock.lock();
    try {
      if (established && !closed) {
        ByteBuffer plain = ByteBuffer.wrap(line);
        while (plain.hasRemaining()) {
          wrap(plain);
        }
      }
    } catch (SSLException e) {
      closed = true; // the engine reports it to the next unwrap, which ends the connection
    } finally {
      lock.unlock();
    }
  }

  @Override
  public boolean isOpen() {
    return connection.isOpen();
  }

  /** Sends close_notify, and closes. */
  @Override
  public void close() {
    lock.lock();
    try {
      if (!closed) {
        closed = true;
        engine.closeOutbound();
        sendAlert();
      }
      connection.close();
    } finally {
      lock.unlock();
    }
  }

  private void note(SSLEngineResult result) {
    established |= result.getHandshakeStatus() == HandshakeStatus.FINISHED;
  }

  private void continueHandshake() throws SSLException {
    while (true) {
      switch (engine.getHandshakeStatus()) {
        case NEED_TASK -> {
          for (Runnable task; (task = engine.getDelegatedTask()) != null; ) {
            task.run();
          }
        }
        case NEED_WRAP -> {
          if (!wrap(NOTHING)) {
            return;
          }
        }
        default -> {
          return;
        }
      }
    }
  }

  /** Sends an alert, if the engine has one. */
  private void sendAlert() {
    try {
      while (engine.getHandshakeStatus() == HandshakeStatus.NEED_WRAP && wrap(NOTHING)) {
        // one record at a time
      }
    } catch (SSLException e) {
      // there is no alert
    }
  }

  /** Encrypts and queues a record; false if none was made. */
  private boolean wrap(ByteBuffer plain) throws SSLException {
    ByteBuffer record = buffers.take();
    try {
      SSLEngineResult result = engine.wrap(plain, record);
      note(result);
      record.flip();
      boolean isMade = record.hasRemaining();
      if (isMade) {
        byte[] bytes = new byte[record.remaining()];
        record.get(bytes);
        connection.send(bytes);
      } else if (result.getStatus() == SSLEngineResult.Status.CLOSED) {
        plain.position(plain.limit()); // nothing can be sent any more
      }
      return isMade;
    } finally {
      buffers.giveBack(record);
    }
  }
}
