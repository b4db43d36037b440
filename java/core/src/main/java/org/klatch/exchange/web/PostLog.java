package org.klatch.exchange.web;

import java.util.Arrays;
import java.util.concurrent.locks.ReentrantLock;

/** The post log: a line with the number of records, then one of 139 bytes for each POST. */
final class PostLog {
  /** Length of a record, its LF included. */
  static final int RECORD_BYTES = 139;

  /** Most records. A client that sends POSTs for ever is refused. */
  static final int POSTS_MAX = 1_000_000;

  /** Length of the line with the number of records. */
  static final int COUNT_BYTES = 11;

  private static final int PATH_AT = 56;
  private static final int FIRST_CAPACITY = 1000 * RECORD_BYTES;

  // Not a monitor: up to JDK 23 a virtual thread that waits for one pins its carrier.
  private final ReentrantLock lock = new ReentrantLock();
  private byte[] records = new byte[FIRST_CAPACITY];
  private int count;

  /**
   * Appends a record. The numbers of processes are not a server's property here, and are 0.
   *
   * @param timeS the time of reference, in seconds since 1970
   * @param user number of the user, from 0
   * @return false, without a change, if the log is full
   */
  boolean append(long timeS, PostForm form, long user) {
    lock.lock();
    try {
      if (count == POSTS_MAX) {
        return false;
      }
      int at = count * RECORD_BYTES;
      if (at + RECORD_BYTES > records.length) {
        records = Arrays.copyOf(records, Math.min(2 * records.length, POSTS_MAX * RECORD_BYTES));
      }
      count++;
      put(timeS, form, user, at);
      return true;
    } finally {
      lock.unlock();
    }
  }

  private void put(long timeS, PostForm form, long user, int at) {
    FileId file = form.file();
    Arrays.fill(records, at, at + RECORD_BYTES - 1, (byte) ' ');
    records[at + RECORD_BYTES - 1] = '\n';
    putNumber(count, records, at + 10);
    putNumber(timeS, records, at + 21);
    putNumber(0, records, at + 32);
    putNumber(file.directory(), records, at + 38);
    putNumber(file.sizeClass(), records, at + 41);
    putNumber(file.number(), records, at + 44);
    putNumber(form.client(), records, at + 55);
    System.arraycopy(file.pathBytes(), 0, records, at + PATH_AT, FileId.PATH_BYTES);
    putNumber(0, records, at + 127);
    putNumber(UserCookie.FIRST_USER + user, records, at + 138);
  }

  /** Writes the digits of a number, the last one just before {@code end}. */
  private static void putNumber(long number, byte[] into, int end) {
    long left = number;
    int at = end;
    do {
      at--;
      into[at] = (byte) ('0' + left % 10);
      left /= 10;
    } while (left > 0);
  }

  void clear() {
    lock.lock();
    try {
      count = 0;
    } finally {
      lock.unlock();
    }
  }

  /** The whole log. */
  byte[] bytes() {
    lock.lock();
    try {
      int recordBytes = count * RECORD_BYTES;
      byte[] log = new byte[COUNT_BYTES + recordBytes];
      Arrays.fill(log, 0, COUNT_BYTES - 1, (byte) ' ');
      putNumber(count, log, COUNT_BYTES - 1);
      log[COUNT_BYTES - 1] = '\n';
      System.arraycopy(records, 0, log, COUNT_BYTES, recordBytes);
      return log;
    } finally {
      lock.unlock();
    }
  }
}
