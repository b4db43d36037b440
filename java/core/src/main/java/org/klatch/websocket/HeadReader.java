package org.klatch.websocket;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.util.Arrays;

/** Collects the head of an HTTP message, which arrives in any chunks: all up to CR LF CR LF. */
public final class HeadReader {
  /** Most bytes of a head. */
  public static final int MAX_BYTES = 8 * 1024;

  /** Result of {@link #read} while the head is incomplete. */
  public static final int INCOMPLETE = -1;

  private static final int LEAST_CAPACITY = 512;
  private static final int END_SIZE = 4; // CR LF CR LF

  private byte[] head = new byte[LEAST_CAPACITY];
  private int size;
  private int matched; // bytes of CR LF CR LF that were read last

  /**
   * Reads from {@code bytes[from, to)}.
   *
   * @return the index behind the head, or {@link #INCOMPLETE}
   */
  public int read(byte[] bytes, int from, int to) {
    for (int at = from; at < to && !isTooLong(); at++) {
      byte expected = (byte) (matched % 2 == 0 ? '\r' : '\n');
      matched = bytes[at] == expected ? matched + 1 : bytes[at] == '\r' ? 1 : 0;
      add(bytes[at]);
      if (matched == END_SIZE) {
        return at + 1;
      }
    }
    return INCOMPLETE;
  }

  /** Whether the head has more than {@link #MAX_BYTES}; nothing more is read then. */
  public boolean isTooLong() {
    return size > MAX_BYTES;
  }

  /** Returns the complete head without the empty line at its end. */
  public String head() {
    return new String(head, 0, size - END_SIZE, ISO_8859_1);
  }

  /** Returns what has been read so far. */
  public String soFar() {
    return new String(head, 0, size, ISO_8859_1);
  }

  private void add(byte b) {
    if (size == head.length) {
      head = Arrays.copyOf(head, 2 * size);
    }
    head[size++] = b;
  }
}
