package org.klatch.chat;

/**
 * Cuts the bytes of one connection into lines, in place.
 *
 * <p>The reader of the connection puts bytes into {@link #buffer()} from {@link #fillAt()} on,
 * passes their number to {@link #filled}, and calls {@link #next()} until it returns {@code NONE}.
 * A line's bytes are valid until the next fill.
 */
public final class Framer {
  /** Longest line in bytes, CR LF included. */
  public static final int MAX_LINE = 512;

  private static final int MAX_CONTENT = MAX_LINE - 2;

  /** Result of {@link #next()}. */
  public enum Event {
    /** A line, from {@link #start()} to {@link #end()}. */
    LINE,
    /** A line longer than {@link #MAX_LINE}; the rest of it is dropped as it arrives. */
    TOO_LONG,
    /** A NUL. No event follows it. */
    NUL,
    /** No whole line is left. */
    NONE
  }

  private final byte[] buffer;
  private int from; // first byte not yet handed out
  private int scanned; // first byte not yet searched
  private int to; // end of the bytes received
  private int start;
  private int end;
  private boolean dropping; // within a line that was too long
  private boolean dead; // a NUL was seen

  /**
   * Creates a framer with an empty buffer.
   *
   * @param size bytes of the buffer; raised to twice {@link #MAX_LINE} if smaller
   */
  public Framer(int size) {
    buffer = new byte[Math.max(size, 2 * MAX_LINE)];
  }

  /** The buffer that the reader fills, from {@link #fillAt()} on. */
  public byte[] buffer() {
    return buffer;
  }

  /** Index in {@link #buffer()} of the next received byte; less than the buffer's length. */
  public int fillAt() {
    if (from == to) {
      from = scanned = to = 0;
    } else if (to > buffer.length - MAX_LINE) {
      System.arraycopy(buffer, from, buffer, 0, to - from);
      scanned -= from;
      to -= from;
      from = 0;
    }
    return to;
  }

  /** Adds {@code count} bytes, which the reader has put at {@link #fillAt()}. */
  public void filled(int count) {
    to += count;
  }

  /** Returns the next event. A CR or an LF ends a line; empty lines are skipped. */
  public Event next() {
    while (!dead && findStop()) {
      byte stop = buffer[scanned];
      start = from;
      end = scanned;
      from = ++scanned;
      if (stop == 0) {
        dead = true;
        return Event.NUL;
      }
      if (dropping) {
        dropping = false;
      } else if (start < end) {
        return Event.LINE;
      }
    }
    if (dropping || dead) {
      from = scanned = to;
    } else if (scanned - from > MAX_CONTENT) {
      from = scanned;
      dropping = true;
      return Event.TOO_LONG;
    }
    return Event.NONE;
  }

  /** Index in {@link #buffer()} of the line's first byte. */
  public int start() {
    return start;
  }

  /** Index in {@link #buffer()} behind the line's last byte; its ending is not part of it. */
  public int end() {
    return end;
  }

  /** Moves {@code scanned} to the next CR, LF or NUL, at most one byte past the longest line. */
  private boolean findStop() {
    int limit = dropping ? to : Math.min(to, from + MAX_CONTENT + 1);
    for (; scanned < limit; scanned++) {
      byte b = buffer[scanned];
      if (b <= '\r' && (b == '\n' || b == '\r' || b == 0)) {
        return true;
      }
    }
    return false;
  }
}
