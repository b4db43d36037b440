package org.klatch.crowd;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import java.util.concurrent.ThreadLocalRandom;
import org.klatch.websocket.ClientHandshake;
import org.klatch.websocket.CloseCode;
import org.klatch.websocket.FrameDecoder;
import org.klatch.websocket.HeadReader;
import org.klatch.websocket.MessageFeeder;
import org.klatch.websocket.Subprotocol;

/**
 * Receives WebSocket messages, and returns each as a line with CR LF. Belongs to the receiver
 * thread.
 */
final class WebSocketInput extends InputStream {
  /** Most bytes of a message. */
  private static final int MAX_MESSAGE = 16 * 1024;

  private static final int BUFFER_BYTES = 16 * 1024;
  private static final byte[] LINE_END = {'\r', '\n'};
  private static final String HTTP = "HTTP/";

  /** Sends the queued answer to a ping. */
  interface PingHandler {
    void handle() throws IOException;
  }

  private final InputStream socket;
  private final Subprotocol subprotocol;
  private final WebSocketOutput out;
  private final PingHandler onPing;
  private final byte[] buffer = new byte[BUFFER_BYTES];
  private final FrameDecoder decoder = new FrameDecoder(false, MAX_MESSAGE);
  private byte[] message = {};
  private int messageAt; // of the next byte to return
  private int messageSize;
  private int lineEndAt = LINE_END.length; // of the next byte to return after the message
  private boolean ended;
  private String problem; // why it ended; null if the server closed it normally

  /**
   * Creates an input on an open connection.
   *
   * @param subprotocol the one to offer; null for none
   * @param out takes the answers to control frames
   */
  WebSocketInput(
      InputStream socket, Subprotocol subprotocol, WebSocketOutput out, PingHandler onPing) {
    this.socket = socket;
    this.subprotocol = subprotocol;
    this.out = out;
    this.onPing = onPing;
  }

  /**
   * Performs the opening handshake.
   *
   * @throws TransportException if the server does not agree
   */
  void open(String host, int port, String path) throws IOException {
    byte[] key = new byte[ClientHandshake.KEY_BYTES];
    ThreadLocalRandom.current().nextBytes(key);
    ClientHandshake handshake = new ClientHandshake(host, port, path, subprotocol, key);
    out.writeRequest(handshake.request().getBytes(US_ASCII));
    HeadReader head = new HeadReader();
    int end = HeadReader.INCOMPLETE;
    while (end == HeadReader.INCOMPLETE) {
      int count = socket.read(buffer);
      if (count < 0) {
        throw new TransportException("the server closed the connection in the WebSocket handshake");
      }
      end = head.read(buffer, 0, count);
      checkStart(head);
      decoder.feed(buffer, Math.max(end, 0), count);
    }
    String wrong = handshake.check(head.head());
    if (wrong != null) {
      throw new TransportException(wrong);
    }
  }

  /** Fails at once if the response is not HTTP: then its head may never end. */
  private static void checkStart(HeadReader head) throws TransportException {
    String start = head.soFar();
    boolean isHttp = start.startsWith(HTTP) || HTTP.startsWith(start);
    if (!isHttp || head.isTooLong()) {
      throw new TransportException(ClientHandshake.unexpected(start));
    }
  }

  @Override
  public int read(byte[] target, int from, int count) throws IOException {
    while (true) {
      int copied = copy(target, from, count);
      if (copied > 0) {
        return copied;
      }
      if (problem != null) {
        throw new TransportException(problem);
      }
      int received = ended ? -1 : socket.read(buffer);
      if (received < 0) {
        return -1;
      }
      decoder.feed(buffer, 0, received);
    }
  }

  /** Unsupported: lines are read in blocks. */
  @Override
  public int read() {
    throw new UnsupportedOperationException();
  }

  /** Copies what has arrived, as far as it fits. Returns the number of bytes. */
  private int copy(byte[] target, int from, int count) throws IOException {
    int at = from;
    int end = from + count;
    while (at < end) {
      if (messageAt < messageSize) {
        int part = Math.min(messageSize - messageAt, end - at);
        System.arraycopy(message, messageAt, target, at, part);
        messageAt += part;
        at += part;
      } else if (lineEndAt < LINE_END.length) {
        target[at++] = LINE_END[lineEndAt++];
      } else if (!nextMessage()) {
        break;
      }
    }
    return at - from;
  }

  /** Moves to the next message; false if none has arrived. */
  private boolean nextMessage() throws IOException {
    while (!ended) {
      switch (decoder.next()) {
        case TEXT -> {
          return begin(subprotocol != Subprotocol.BINARY);
        }
        case BINARY -> {
          return begin(subprotocol != Subprotocol.TEXT);
        }
        case PING -> {
          out.queuePong(Arrays.copyOf(decoder.bytes(), decoder.size()));
          onPing.handle();
        }
        case PONG -> {}
        case CLOSE -> closed();
        case ERROR -> fail(decoder.code(), decoder.reason());
        case NONE -> {
          return false;
        }
      }
    }
    return false;
  }

  private boolean begin(boolean isAgreedType) {
    if (!isAgreedType) {
      fail(CloseCode.PROTOCOL_ERROR, "a message is not of the type of " + subprotocol.wireName);
      return false;
    }
    message = decoder.bytes();
    messageSize = decoder.size();
    if (MessageFeeder.hasLineBreak(message, messageSize)) {
      messageSize = 0;
      fail(CloseCode.POLICY_VIOLATION, "a message contains a line break");
      return false;
    }
    messageAt = 0;
    lineEndAt = 0;
    return true;
  }

  private void closed() {
    ended = true;
    if (decoder.code() != CloseCode.NORMAL && decoder.code() != FrameDecoder.NO_CODE) {
      String reason = decoder.reason().isEmpty() ? "" : ": " + decoder.reason();
      problem = "the server closed the WebSocket with code " + decoder.code() + reason;
    }
    out.writeClose(decoder.code());
  }

  private void fail(int code, String what) {
    ended = true;
    problem = "the server broke WebSocket: " + what;
    out.writeClose(code);
  }
}
