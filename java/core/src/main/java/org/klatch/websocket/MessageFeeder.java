package org.klatch.websocket;

import org.klatch.service.ConnectionHandler;

/** Passes messages to a handler of lines. */
public final class MessageFeeder {
  private static final byte[] LINE_END = {'\r', '\n'};

  private MessageFeeder() {}

  /** Whether the first {@code size} bytes contain a CR or LF, which no message may. */
  public static boolean hasLineBreak(byte[] message, int size) {
    for (int i = 0; i < size; i++) {
      if (message[i] == '\r' || message[i] == '\n') {
        return true;
      }
    }
    return false;
  }

  /**
   * Feeds a message as a line with CR LF.
   *
   * @return false once the connection has ended, as {@link ConnectionHandler#feed(int, Runnable)}
   */
  public static boolean feed(
      ConnectionHandler lines, byte[] message, int size, Runnable onHandled) {
    int at = lines.fillAt();
    byte[] target = lines.buffer();
    if (size + LINE_END.length <= target.length - at) {
      System.arraycopy(message, 0, target, at, size);
      System.arraycopy(LINE_END, 0, target, at + size, LINE_END.length);
      return lines.feed(size + LINE_END.length, onHandled);
    }
    return feedParts(lines, message, size, onHandled)
        && feedParts(lines, LINE_END, LINE_END.length, onHandled);
  }

  private static boolean feedParts(
      ConnectionHandler lines, byte[] bytes, int size, Runnable onHandled) {
    for (int done = 0; done < size; ) {
      int at = lines.fillAt();
      int count = Math.min(size - done, lines.buffer().length - at);
      System.arraycopy(bytes, done, lines.buffer(), at, count);
      done += count;
      if (!lines.feed(count, onHandled)) {
        return false;
      }
    }
    return true;
  }
}
