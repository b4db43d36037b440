package org.klatch.crowd;

/**
 * A user in a room that does not belong to this crowd.
 *
 * @param messages number of its messages that a listener received
 */
public record Stranger(int room, String nick, long messages) {}
