package org.klatch.crowd;

/**
 * A fault in the deliveries of one speaker's messages to one listener.
 *
 * @param room the room's number
 * @param user the listener, or null if the message was never sent
 * @param speaker the speaker, or null if unknown
 * @param sequence the first affected message, or null if unknown
 * @param count number of affected messages
 * @param detail text for users, or null
 */
public record Fault(
    Kind kind, int room, Integer user, Integer speaker, Long sequence, long count, String detail) {
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
    /** Delivered with changed contents. */
    CORRUPTED
  }
}
