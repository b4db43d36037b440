package org.klatch.chat;

/**
 * Names and texts with which a server introduces itself.
 *
 * @param name host name, the prefix of its replies
 * @param version software and its version, one word
 * @param created date of its start, as text
 * @param network name of the network, one word
 * @param motd message of the day, one line
 */
public record Identity(String name, String version, String created, String network, String motd) {}
