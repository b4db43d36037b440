package org.klatch.tls;

import java.nio.ByteBuffer;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/** A pool of buffers, each for one record. A thread takes one only while it encodes or decodes. */
final class Buffers {
  /** More than the largest record and its contents. */
  static final int BYTES = 17 * 1024;

  private final Queue<ByteBuffer> free = new ConcurrentLinkedQueue<>();

  /** Returns an empty buffer. */
  ByteBuffer take() {
    ByteBuffer buffer = free.poll();
    return buffer == null ? ByteBuffer.allocate(BYTES) : buffer.clear();
  }

  void giveBack(ByteBuffer buffer) {
    free.add(buffer);
  }
}
