package org.klatch.chat;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A room with at least one member. Its lock is held while a line goes to all members, so that all
 * of them see one order. Its membership changes under the state's lock as well.
 */
final class Room {
  /** Spelled as by its first member. */
  final String name;

  /** The folded name, under which the state has this room. */
  final String key;

  /** The part of a relayed line between prefix and text: {@code PRIVMSG #room :}. */
  final byte[] privmsg;

  /** Empty if not set. Guarded by the state's lock. */
  String topic = "";

  private final ReentrantLock lock = new ReentrantLock();
  private final List<Session> members = new ArrayList<>(); // in the order of joining

  Room(String name) {
    this.name = name;
    key = Names.fold(name);
    privmsg = LineEncoder.bytes("PRIVMSG " + name + " :");
  }

  /** Sends a line to every member except {@code speaker}, which may be null. */
  void send(byte[] line, Session speaker) {
    lock.lock();
    try {
      for (int i = 0; i < members.size(); i++) {
        Session member = members.get(i);
        if (member != speaker) {
          member.send(line);
        }
      }
    } finally {
      lock.unlock();
    }
  }

  /** Sends a line to every member that is not in {@code served}, and adds them to it. */
  void sendOnce(byte[] line, Set<Session> served) {
    lock.lock();
    try {
      for (Session member : members) {
        if (served.add(member)) {
          member.send(line);
        }
      }
    } finally {
      lock.unlock();
    }
  }

  void add(Session session) {
    lock.lock();
    try {
      members.add(session);
    } finally {
      lock.unlock();
    }
  }

  /** Removes a member; true if it was the last. */
  boolean remove(Session session) {
    lock.lock();
    try {
      members.remove(session);
      return members.isEmpty();
    } finally {
      lock.unlock();
    }
  }

  List<Session> members() {
    lock.lock();
    try {
      return List.copyOf(members);
    } finally {
      lock.unlock();
    }
  }
}
