package org.klatch.crowd;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The strangers in one listener's room. Belongs to its receiver thread until that has ended. */
final class Strangers {
  /** Most strangers listed in a room, and in a result. */
  static final int MAX = 20;

  private final int room;
  private final Map<String, Long> messages = new TreeMap<>();

  Strangers(int room) {
    this.room = room;
  }

  /** Adds a stranger, and {@code count} messages of it. */
  void add(String nick, long count) {
    if (messages.containsKey(nick) || messages.size() < MAX) {
      messages.merge(nick, count, Long::sum);
    }
  }

  /** Adds another listener's strangers. The same message reaches both, so the maximum counts. */
  void merge(Strangers other) {
    other.messages.forEach(
        (nick, count) -> {
          if (messages.containsKey(nick) || messages.size() < MAX) {
            messages.merge(nick, count, Math::max);
          }
        });
  }

  List<Stranger> list() {
    List<Stranger> list = new ArrayList<>();
    messages.forEach((nick, count) -> list.add(new Stranger(room, nick, count)));
    return list;
  }
}
