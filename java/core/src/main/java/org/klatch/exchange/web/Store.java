package org.klatch.exchange.web;

import java.util.concurrent.atomic.AtomicReferenceArray;

/** The files of a site in memory. Each is computed when it is first requested, and kept. */
final class Store {
  private final Content content;
  private final AtomicReferenceArray<byte[]> files;

  Store(long seed, int directories) {
    content = new Content(seed);
    files = new AtomicReferenceArray<>(directories * FileId.FILES_PER_DIRECTORY);
  }

  Content content() {
    return content;
  }

  /**
   * Checks that the site has a file.
   *
   * @throws RefusalException if it has no such directory
   */
  void require(FileId file) throws RefusalException {
    if (file.index() >= files.length()) {
      throw new RefusalException(Status.NOT_FOUND);
    }
  }

  /** The bytes of a file of the site, shared. */
  byte[] bytes(FileId file) {
    byte[] bytes = files.get(file.index());
    if (bytes == null) {
      bytes = new byte[file.sizeBytes()];
      content.file(file).put(bytes, 0);
      // Of two threads that compute it at once, the first one's bytes are kept.
      byte[] earlier = files.compareAndExchange(file.index(), null, bytes);
      return earlier == null ? bytes : earlier;
    }
    return bytes;
  }
}
