package org.klatch.chat;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * A room with at least one member. Its monitor is held while a line goes to its members, so that
 * all of them see one order; its membership changes with the hall's monitor held as well.
 */
final class Room {
  /** As its first member wrote it. */
  final String name;

  /** The folded name. */
  final String key;

  /** Between a prefix and the text: {@code PRIVMSG #room :}. */
  final byte[] privmsg;

  /** Empty if there is none. Guarded by the hall. */
  String topic = "";

  private final List<Session> members = new ArrayList<>(); // in the order of joining

  Room(String name) {
    this.name = name;
    key = Names.fold(name);
    privmsg = Wire.bytes("PRIVMSG " + name + " :");
  }

  /** Sends a line to every member but {@code speaker}; null means to all. */
  synchronized void send(byte[] line, Session speaker) {
    for (int i = 0; i < members.size(); i++) {
      Session member = members.get(i);
      if (member != speaker) {
        member.send(line);
      }
    }
  }

  /** Sends a line to every member that is not yet in {@code served}, and puts them there. */
  synchronized void sendOnce(byte[] line, Set<Session> served) {
    for (Session member : members) {
      if (served.add(member)) {
        member.send(line);
      }
    }
  }

  synchronized void add(Session session) {
    members.add(session);
  }

  /** Takes a member out; true if it was the last. */
  synchronized boolean remove(Session session) {
    members.remove(session);
    return members.isEmpty();
  }

  synchronized List<Session> members() {
    return List.copyOf(members);
  }
}
