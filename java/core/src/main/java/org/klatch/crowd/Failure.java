package org.klatch.crowd;

/**
 * Why a crowd gave up.
 *
 * @param room the room's number, or null if it is about no user
 * @param user the user's number, or null if it is about no user
 * @param detail what happened
 */
public record Failure(Kind kind, Integer room, Integer user, String detail) {
  /** What failed. */
  public enum Kind {
    /** No connection could be made at all. */
    CONNECT,
    /** A user could not register or join. */
    JOIN,
    /** The server answered a message with an error numeric. */
    REFUSED,
    /** A connection was closed or broke. */
    DISCONNECT,
    /** Nothing came for too long. */
    TIMEOUT,
    /** The crowd was told to stop. */
    STOPPED
  }
}
