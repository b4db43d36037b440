package org.klatch.crowd;

/**
 * A fault in the deliveries of one speaker's messages to one listener, or in a read.
 *
 * @param reader the number of the reader of files, from 1; null for a user in a room
 * @param room the room's number; 0 for a reader
 * @param user the listener, or null if the message was never sent
 * @param speaker the speaker, or null if unknown
 * @param sequence the first affected message or read, or null if unknown
 * @param count number of affected messages
 * @param detail text for users, or null
 */
public record Fault(
    Kind kind,
    Integer reader,
    int room,
    Integer user,
    Integer speaker,
    Long sequence,
    long count,
    String detail) {
  /** Kinds of fault; JSON has them in lower case. */
  public enum Kind {
    /** Sent, but never delivered. */
    LOST,
    /** Never sent, because the crowd ended early. */
    UNSENT,
    /** Delivered again, or to its own speaker. */
    DUPLICATED,
    /** Delivered after a later one of the same speaker. */
    REORDERED,
    /** Delivered, or read, with changed contents. */
    CORRUPTED
  }

  /** The detail may have something in it that a server sent. */
  public Fault {
    detail = Printable.of(detail);
  }

  /** Creates a fault of a user in a room. */
  Fault(
      Kind kind,
      int room,
      Integer user,
      Integer speaker,
      Long sequence,
      long count,
      String detail) {
    this(kind, null, room, user, speaker, sequence, count, detail);
  }

  /** Describes a read, counted from 0, of a block that was not as it must be. */
  public static Fault ofRead(int reader, long read, String detail) {
    return new Fault(Kind.CORRUPTED, reader, 0, null, null, read, 1, detail);
  }
}
