package org.klatch.crowd;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** A user's room and number, with its nick and channel. */
final class UserId {
  final int room;
  final int user;
  final int users;
  final String nick;
  final String channel;
  private final byte[] nickPrefix; // of all nicks in the room
  private final byte[] channelBytes;

  UserId(int room, int user, int users) {
    this.room = room;
    this.user = user;
    this.users = users;
    nick = "r" + room + "u" + user;
    channel = "#klatch-" + room;
    nickPrefix = ("r" + room + "u").getBytes(StandardCharsets.US_ASCII);
    channelBytes = channel.getBytes(StandardCharsets.US_ASCII);
  }

  /** Whether {@code bytes[start, end)} is the room's channel. */
  boolean isChannel(byte[] bytes, int start, int end) {
    return Arrays.equals(bytes, start, end, channelBytes, 0, channelBytes.length);
  }

  /**
   * Parses the nick at the start of {@code bytes[start, end)}, up to its end or a {@code !}.
   * Returns the user's number, or -1 for a stranger.
   */
  int userOf(byte[] bytes, int start, int end) {
    int digits = start + nickPrefix.length;
    if (digits >= end || !Arrays.equals(bytes, start, digits, nickPrefix, 0, nickPrefix.length)) {
      return -1;
    }
    int number = 0;
    int at = digits;
    for (; at < end && bytes[at] != '!'; at++) {
      int digit = bytes[at] - '0';
      boolean leadingZero = at > digits && number == 0;
      if (digit < 0 || digit > 9 || leadingZero || number >= users) {
        return -1;
      }
      number = number * 10 + digit;
    }
    return at > digits && number < users ? number : -1;
  }
}
