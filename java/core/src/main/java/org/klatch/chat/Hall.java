package org.klatch.chat;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A whole server: its sessions and its rooms.
 *
 * <p>Talking needs no lock but the room's. Everything else (who is where, what is called how)
 * changes and is listed with the hall's lock held; a thread that holds both takes the hall's first.
 * They are no monitors: up to JDK 23 a virtual thread that waits for one keeps its carrier.
 */
public final class Hall {
  final Identity identity;
  final ReentrantLock lock = new ReentrantLock();
  private final Map<String, Session> sessions = new ConcurrentHashMap<>(); // by folded nick
  private final Map<String, Room> rooms = new ConcurrentSkipListMap<>(); // by folded name
  private int registered; // guarded by the lock

  /** Makes an empty hall. */
  public Hall(Identity identity) {
    this.identity = identity;
  }

  /**
   * Lets a connection in.
   *
   * @param host what others see as its host, such as its address
   * @param outbox where the lines for it go
   */
  public Session open(String host, Outbox outbox) {
    return new Session(this, host, outbox);
  }

  /** The registered session with that nick, in any spelling, or null. */
  Session find(String nick) {
    Session session = sessions.get(Names.fold(nick));
    return session != null && session.registered() ? session : null;
  }

  /** The room with that name, in any spelling, or null. */
  Room room(String name) {
    return rooms.get(Names.fold(name));
  }

  /** All rooms, sorted by their folded names. */
  Iterable<Room> rooms() {
    return rooms.values();
  }

  int roomCount() {
    return rooms.size();
  }

  int registered() {
    return registered;
  }

  void countRegistered(int change) {
    registered += change;
  }

  /** Gives {@code session} a nick; false if somebody else has it. */
  boolean claim(String nick, Session session) {
    Session holder = sessions.putIfAbsent(Names.fold(nick), session);
    return holder == null || holder == session;
  }

  void release(String nick) {
    sessions.remove(Names.fold(nick));
  }

  /** The room with that name, made if there is none; the caller adds a member at once. */
  Room roomFor(String name) {
    return rooms.computeIfAbsent(Names.fold(name), key -> new Room(name));
  }

  /** Takes a session out of a room, which ends with its last member. */
  void leave(Room room, Session session) {
    if (room.remove(session)) {
      rooms.remove(room.key);
    }
  }
}
