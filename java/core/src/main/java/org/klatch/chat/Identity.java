package org.klatch.chat;

/**
 * What a server says it is.
 *
 * @param name of the server, the prefix of its replies
 * @param version of its software
 * @param created when it was started, in words
 * @param network the network's name
 * @param motd message of the day, one line
 */
public record Identity(String name, String version, String created, String network, String motd) {}
