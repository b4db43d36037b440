package org.klatch.crowd;

/**
 * Somebody in a room who is not of this crowd.
 *
 * @param messages how many messages of it a listener heard
 */
public record Stranger(int room, String nick, long messages) {}
