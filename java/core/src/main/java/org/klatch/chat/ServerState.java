package org.klatch.chat;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.locks.ReentrantLock;
import org.klatch.service.ConnectionHandler;
import org.klatch.service.Outbox;
import org.klatch.service.Service;

/**
 * The sessions and rooms of one server.
 *
 * <p>A message to a room takes only that room's lock. Memberships, nicks and topics are read and
 * changed under {@link #lock}; a thread that needs both takes this one first. The locks are not
 * monitors, because up to JDK 23 a virtual thread that waits for a monitor pins its carrier.
 */
public final class ServerState implements Service {
  final Identity identity;
  final ReentrantLock lock = new ReentrantLock();
  private final Map<String, Session> sessions = new ConcurrentHashMap<>(); // by folded nick
  private final Map<String, Room> rooms = new ConcurrentSkipListMap<>(); // by folded name
  private int registered; // guarded by the lock

  /** Creates a server without sessions and rooms. */
  public ServerState(Identity identity) {
    this.identity = identity;
  }

  /**
   * Opens a session for a new connection.
   *
   * @param host host that other users see, such as the IP address
   * @param outbox receives the lines for this connection
   */
  public Session openSession(String host, Outbox outbox) {
    return new Session(this, host, outbox);
  }

  @Override
  public ConnectionHandler open(String host, Outbox outbox, int bufferBytes) {
    return new ChatHandler(this, host, outbox, bufferBytes);
  }

  /** Returns false: a room sends to its members from the threads of other connections. */
  @Override
  public boolean repliesOnly() {
    return false;
  }

  @Override
  public byte[] closingLine(String reason) {
    return LineEncoder.encode("ERROR :Closing link: (" + reason + ")");
  }

  /** Returns the registered session with this nick, compared case-insensitively, or null. */
  Session find(String nick) {
    Session session = sessions.get(Names.fold(nick));
    return session != null && session.registered() ? session : null;
  }

  /** Returns the room with this name, compared case-insensitively, or null. */
  Room room(String name) {
    return rooms.get(Names.fold(name));
  }

  /** Returns all rooms, sorted by their folded names. */
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

  /** Reserves a nick for {@code session}; false if another session has it. */
  boolean claim(String nick, Session session) {
    Session holder = sessions.putIfAbsent(Names.fold(nick), session);
    return holder == null || holder == session;
  }

  void release(String nick) {
    sessions.remove(Names.fold(nick));
  }

  /** Returns the room with this name, created if needed; the caller must add a member at once. */
  Room roomFor(String name) {
    return rooms.computeIfAbsent(Names.fold(name), key -> new Room(name));
  }

  /** Removes a session from a room, and the room with its last member. */
  void leave(Room room, Session session) {
    if (room.remove(session)) {
      rooms.remove(room.key);
    }
  }
}
