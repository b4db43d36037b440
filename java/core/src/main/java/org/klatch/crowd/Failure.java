package org.klatch.crowd;

/**
 * The reason why a crowd ended early.
 *
 * @param room the room's number, or null if the failure concerns no single user
 * @param user the user's number, or null if the failure concerns no single user
 * @param detail text for users
 */
public record Failure(Kind kind, Integer room, Integer user, String detail) {
  /** The detail may have something in it that a server sent. */
  public Failure {
    detail = Printable.of(detail);
  }

  /** Kinds of failure; JSON has them in lower case. */
  public enum Kind {
    /** The first connection could not be made. */
    CONNECT,
    /** A user could not register or join. */
    JOIN,
    /** The server answered a message with an error numeric. */
    REFUSED,
    /** A connection was closed or broke. */
    DISCONNECT,
    /** A file could not be read, or not from the page cache. */
    READ,
    /** There was no progress for the time-out. */
    TIMEOUT,
    /** A command or signal stopped the crowd. */
    STOPPED
  }
}
