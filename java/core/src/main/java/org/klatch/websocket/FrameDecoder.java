package org.klatch.websocket;

import java.util.Arrays;

/**
 * Decodes the frames that one side receives, in any chunks, into whole messages and control frames.
 *
 * <p>The caller passes received bytes to {@link #feed} and calls {@link #next} until it returns
 * {@code NONE}. The bytes of an event are valid until the next call.
 */
public final class FrameDecoder {
  /** The code of a close frame that has none. */
  public static final int NO_CODE = -1;

  private static final int LEAST_CAPACITY = 256;
  private static final int RESERVED = 0x70;
  private static final int CONTROL = 8; // the bit of an opcode

  /** Result of {@link #next}. */
  public enum Event {
    /** A message of type text, which is UTF-8. */
    TEXT,
    /** A message of type binary. */
    BINARY,
    /** A ping, which the receiver answers with the same bytes. */
    PING,
    /** A pong; it needs no answer. */
    PONG,
    /** A close frame with {@link #code()} and {@link #reason()}. No event follows it. */
    CLOSE,
    /** An error: the receiver closes with {@link #code()}. No event follows it. */
    ERROR,
    /** All bytes are consumed. */
    NONE
  }

  private final boolean isServer;
  private final int largestBytes;

  private byte[] input = {};
  private int at;
  private int end;

  private final byte[] head = new byte[Frames.MAX_HEAD];
  private int headFilled;
  private int headSize = 2; // the rest is in the first two bytes
  private boolean inPayload;
  private int opcode;
  private boolean isFinal;
  private int key;
  private int length;
  private int filled; // bytes of the payload that have arrived

  private byte[] message = {};
  private int messageSize;
  private int messageOpcode; // CONTINUATION outside a fragmented message
  private final byte[] control = new byte[Frames.MAX_CONTROL];

  private byte[] bytes = {};
  private int size;
  private int code;
  private String reason = "";
  private boolean dead; // after a close frame or an error

  /**
   * Creates a decoder.
   *
   * @param isServer whether the receiver is the server, so that frames must be masked
   * @param largestBytes most bytes of a message
   */
  public FrameDecoder(boolean isServer, int largestBytes) {
    this.isServer = isServer;
    this.largestBytes = largestBytes;
  }

  /** Adds {@code input[from, to)}, once {@link #next} has consumed all earlier bytes. */
  public void feed(byte[] input, int from, int to) {
    this.input = input;
    at = from;
    end = to;
  }

  /** Returns the next event. */
  public Event next() {
    while (!dead) {
      if (!inPayload && !readHead()) {
        return dead ? Event.ERROR : Event.NONE;
      }
      if (!readPayload()) {
        return Event.NONE;
      }
      inPayload = false;
      headFilled = 0;
      headSize = 2;
      Event event = endFrame();
      if (event != Event.NONE) {
        return event;
      }
    }
    return Event.NONE;
  }

  /** The payload of a message, ping or pong, up to {@link #size()}. */
  public byte[] bytes() {
    return bytes;
  }

  /** Number of bytes in the payload. */
  public int size() {
    return size;
  }

  /** The code of a close frame, or {@link #NO_CODE}; or the code with which to close. */
  public int code() {
    return code;
  }

  /** The reason of a close frame, or what is wrong. */
  public String reason() {
    return reason;
  }

  /** Reads bytes of the head; true once it is complete. After an error the decoder is dead. */
  private boolean readHead() {
    while (at < end) {
      head[headFilled++] = input[at++];
      if (headFilled == 2 && !checkStart()) {
        return false;
      }
      if (headFilled == headSize - (isServer ? 4 : 0) && !checkLength()) {
        return false;
      }
      if (headFilled == headSize) {
        beginPayload();
        return true;
      }
    }
    return false;
  }

  /** Checks the first two bytes, and sets the size of the head. */
  private boolean checkStart() {
    isFinal = (head[0] & Frames.FINAL) != 0;
    opcode = head[0] & 0xf;
    int shortLength = head[1] & 0x7f;
    boolean masked = (head[1] & Frames.MASKED) != 0;
    if ((head[0] & RESERVED) != 0) {
      return fail("a reserved bit is set");
    }
    if ((opcode & ~CONTROL) > 2) { // 0 to 2 and 8 to 10 are defined
      return fail("opcode " + opcode + " is unknown");
    }
    if (masked != isServer) {
      return fail(isServer ? "a frame of a client is not masked" : "a frame of a server is masked");
    }
    if (isControl() && !isFinal) {
      return fail("a control frame is fragmented");
    }
    if (isControl() && shortLength > Frames.MAX_CONTROL) {
      return fail("a control frame has more than " + Frames.MAX_CONTROL + " bytes");
    }
    if (opcode == Frames.CONTINUATION && messageOpcode == Frames.CONTINUATION) {
      return fail("a continuation follows no first fragment");
    }
    if (isData() && messageOpcode != Frames.CONTINUATION) {
      return fail("a message begins within a fragmented one");
    }
    int lengthSize = shortLength == Frames.LENGTH_64 ? 8 : shortLength == Frames.LENGTH_16 ? 2 : 0;
    headSize = 2 + lengthSize + (isServer ? 4 : 0);
    return true;
  }

  private boolean checkLength() {
    long announced = head[1] & 0x7f;
    if (headFilled > 2) {
      long least = headFilled == 4 ? Frames.LENGTH_16 : 1 << 16;
      announced = 0;
      for (int i = 2; i < headFilled; i++) {
        announced = announced << 8 | (head[i] & 0xff);
      }
      if (announced < least) { // also a length with its highest bit, which is negative
        return fail(announced < 0 ? "a length has its highest bit set" : "a length is not minimal");
      }
    }
    long before = opcode == Frames.CONTINUATION ? messageSize : 0;
    if (!isControl() && before + announced > largestBytes) {
      return fail(CloseCode.TOO_LARGE, "a message has more than " + largestBytes + " bytes");
    }
    length = (int) announced;
    return true;
  }

  private void beginPayload() {
    inPayload = true;
    filled = 0;
    key = 0;
    for (int i = 0; isServer && i < 4; i++) {
      key |= (head[headSize - 4 + i] & 0xff) << (8 * i);
    }
    if (isData()) {
      messageOpcode = opcode;
      messageSize = 0;
    }
    if (!isControl() && messageSize + length > message.length) {
      int capacity = Math.max(LEAST_CAPACITY, Math.min(largestBytes, 2 * message.length));
      message = Arrays.copyOf(message, Math.max(capacity, messageSize + length));
    }
  }

  /** Reads and unmasks bytes of the payload; true once it is complete. */
  private boolean readPayload() {
    int count = Math.min(length - filled, end - at);
    int rotated = Integer.rotateRight(key, 8 * (filled & 3));
    byte[] target = isControl() ? control : message;
    Frames.mask(input, at, target, (isControl() ? 0 : messageSize) + filled, count, rotated);
    at += count;
    filled += count;
    return filled == length;
  }

  private Event endFrame() {
    if (isControl()) {
      bytes = control;
      size = length;
      return switch (opcode) {
        case Frames.PING -> Event.PING;
        case Frames.PONG -> Event.PONG;
        default -> endClose();
      };
    }
    messageSize += length;
    if (!isFinal) {
      return Event.NONE;
    }
    boolean isText = messageOpcode == Frames.TEXT;
    messageOpcode = Frames.CONTINUATION;
    bytes = message;
    size = messageSize;
    if (isText && !Utf8.isValid(message, 0, size)) {
      fail(CloseCode.NOT_UTF8, "a text is not UTF-8");
      return Event.ERROR;
    }
    return isText ? Event.TEXT : Event.BINARY;
  }

  private Event endClose() {
    code = length == 0 ? NO_CODE : (control[0] & 0xff) << 8 | (control[1] & 0xff);
    if (length == 1 || (length > 1 && !CloseCode.isValid(code))) {
      fail(length == 1 ? "a close frame has one byte" : "close code " + code + " is not allowed");
      return Event.ERROR;
    }
    if (length > 2 && !Utf8.isValid(control, 2, length)) {
      fail(CloseCode.NOT_UTF8, "the reason of a close frame is not UTF-8");
      return Event.ERROR;
    }
    reason = length > 2 ? Frames.text(control, 2, length) : "";
    dead = true;
    return Event.CLOSE;
  }

  private boolean isControl() {
    return (opcode & CONTROL) != 0;
  }

  private boolean isData() {
    return opcode == Frames.TEXT || opcode == Frames.BINARY;
  }

  private boolean fail(String problem) {
    return fail(CloseCode.PROTOCOL_ERROR, problem);
  }

  private boolean fail(int closeCode, String problem) {
    code = closeCode;
    reason = problem;
    dead = true;
    return false;
  }
}
