package org.klatch.crowd;

/**
 * Something that is wrong with the deliveries of one speaker's messages.
 *
 * @param room the room's number
 * @param user the listener, or null if it was never said
 * @param speaker the speaker, or null if that is not known
 * @param sequence the first message it is about, or null if that is not known
 * @param count how many messages it is about
 * @param detail what exactly, or null
 */
public record Fault(
    Kind kind, int room, Integer user, Integer speaker, Long sequence, long count, String detail) {
  /** What is wrong. */
  public enum Kind {
    /** Said, but never delivered. */
    LOST,
    /** Never said: the crowd gave up before. */
    UNSAID,
    /** Delivered again. */
    REPEATED,
    /** Delivered after a later one of the same speaker. */
    REORDERED,
    /** Delivered, but changed. */
    ALTERED
  }
}
