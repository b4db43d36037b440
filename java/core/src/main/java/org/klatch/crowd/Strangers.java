package org.klatch.crowd;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Who else one listener met in its room. Belongs to its receiver until that has ended. */
final class Strangers {
  /** How many are kept. */
  static final int KEPT = 20;

  private final int room;
  private final Map<String, Long> messages = new TreeMap<>();

  Strangers(int room) {
    this.room = room;
  }

  /** Somebody was seen, or said {@code count} messages. */
  void met(String nick, long count) {
    if (messages.containsKey(nick) || messages.size() < KEPT) {
      messages.merge(nick, count, Long::sum);
    }
  }

  /** Adds what another listener of the room met: the same strangers, who said the same. */
  void addFrom(Strangers other) {
    other.messages.forEach(
        (nick, count) -> {
          if (messages.containsKey(nick) || messages.size() < KEPT) {
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
