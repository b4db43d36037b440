package org.klatch.websocket;

/**
 * Frames lines, and remembers the last one of each thread: a room sends the same array to all its
 * members, one after the other, and it is framed once.
 *
 * <p>There is no thread-local variable, which each of many virtual threads would have. Threads
 * whose ids share a slot only frame a line again. Entries are immutable, so a race is harmless.
 */
final class FrameCache {
  private static final int SLOTS = 256; // a power of two

  /** A line and its frame. */
  private static final class Entry {
    final byte[] line;
    final byte[] frame;

    Entry(byte[] line, byte[] frame) {
      this.line = line;
      this.frame = frame;
    }
  }

  private final boolean text;
  private final Entry[] entries = new Entry[SLOTS];

  /**
   * Creates an empty cache.
   *
   * @param text whether messages have the type text; otherwise binary
   */
  FrameCache(boolean text) {
    this.text = text;
  }

  /** Returns the frame of a line, which the message contains without its CR LF. */
  byte[] frame(byte[] line) {
    int slot = (int) Thread.currentThread().getId() & (SLOTS - 1);
    Entry entry = entries[slot];
    if (entry == null || entry.line != line) {
      entry = new Entry(line, encode(line));
      entries[slot] = entry;
    }
    return entry.frame;
  }

  private byte[] encode(byte[] line) {
    int size = line.length;
    while (size > 0 && (line[size - 1] == '\r' || line[size - 1] == '\n')) {
      size--;
    }
    if (!text || Utf8.isValid(line, 0, size)) {
      return Frames.message(text, line, 0, size);
    }
    byte[] replaced = Utf8.replaceInvalid(line, 0, size);
    return Frames.message(true, replaced, 0, replaced.length);
  }
}
