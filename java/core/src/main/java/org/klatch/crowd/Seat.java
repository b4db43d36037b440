package org.klatch.crowd;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** Where a user sits: its room, its number, and how both are called on the wire. */
final class Seat {
  final int room;
  final int user;
  final int users;
  final String nick;
  final String channel;
  private final byte[] stem; // of all nicks in the room
  private final byte[] channelBytes;

  Seat(int room, int user, int users) {
    this.room = room;
    this.user = user;
    this.users = users;
    nick = "r" + room + "u" + user;
    channel = "#klatch-" + room;
    stem = ("r" + room + "u").getBytes(StandardCharsets.US_ASCII);
    channelBytes = channel.getBytes(StandardCharsets.US_ASCII);
  }

  /** Whether {@code bytes[start, end)} is the room's channel. */
  boolean isChannel(byte[] bytes, int start, int end) {
    return Arrays.equals(bytes, start, end, channelBytes, 0, channelBytes.length);
  }

  /**
   * The number of the user whose nick begins {@code bytes[start, end)} and ends with it or at a
   * {@code !}; -1 if it is a stranger.
   */
  int userOf(byte[] bytes, int start, int end) {
    int digits = start + stem.length;
    if (digits >= end || !Arrays.equals(bytes, start, digits, stem, 0, stem.length)) {
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
