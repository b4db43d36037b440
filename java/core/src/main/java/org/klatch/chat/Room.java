package org.klatch.chat;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A room with at least one member. Its lock is held while a line goes to its members, so that all
 * of them see one order; its membership changes with the hall's lock held as well.
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

  private final ReentrantLock lock = new ReentrantLock();
  private final List<Session> members = new ArrayList<>(); // in the order of joining

  Room(String name) {
    this.name = name;
    key = Names.fold(name);
    privmsg = Wire.bytes("PRIVMSG " + name + " :");
  }

  /** Sends a line to every member but {@code speaker}; null means to all. */
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

  /** Sends a line to every member that is not yet in {@code served}, and puts them there. */
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

  /** Takes a member out; true if it was the last. */
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
