package org.klatch.chat;

import java.util.Arrays;
import java.util.Collection;
import java.util.HashSet;
import java.util.Set;
import java.util.TreeMap;
import org.klatch.service.Outbox;

/**
 * The protocol state of one connection. One thread at a time calls its methods. Fields that other
 * sessions read are volatile or guarded by the state's lock.
 */
public final class Session {
  final ServerState state;
  final String host;
  private final Outbox outbox;
  private final Line line = new Line();
  private final TreeMap<String, Room> rooms =
      new TreeMap<>(); // by folded name; guarded by the state's lock
  private volatile boolean registered;
  private volatile String nick = "*"; // "*" until registered
  private byte[] prefix = {}; // ":nick!user@host "; read only by this session's thread
  private Room lastTarget; // cache of a room lookup; null when not a member
  private boolean ended;

  final Registration registration = new Registration(this);

  /** The user name, set at registration. */
  String user = "";

  /** The real name, set at registration. */
  String real = "";

  /** The away message; empty if not away. */
  volatile String away = "";

  Session(ServerState state, String host, Outbox outbox) {
    this.state = state;
    this.host = host;
    this.outbox = outbox;
  }

  /**
   * Handles one event of the connection's input.
   *
   * @param event the last event of {@code framer}
   * @return false once the session has ended; no further event may be passed in then
   */
  public boolean handle(Framer.Event event, Framer framer) {
    switch (event) {
      case LINE -> {
        if (line.parse(framer.buffer(), framer.start(), framer.end())) {
          Commands.run(this, line);
        }
      }
      case TOO_LONG -> reply("417", ":Input line was too long");
      case NUL -> end("NUL in input");
      case NONE -> {}
    }
    return !ended;
  }

  /** Whether NICK and USER are complete and the welcome was sent. */
  public boolean registered() {
    return registered;
  }

  /**
   * Ends the session: sends the reason to it and to its rooms, and closes its outbox. Does nothing
   * the second time.
   *
   * @param reason text for users, such as {@code Connection closed}
   */
  public void end(String reason) {
    if (ended) {
      return;
    }
    ended = true;
    state.lock.lock();
    try {
      registration.release();
      if (registered) {
        state.countRegistered(-1);
      }
      rooms.values().forEach(room -> state.leave(room, this));
      Set<Session> served = new HashSet<>();
      byte[] quit = lineFromUser("QUIT :" + reason);
      rooms.values().forEach(room -> room.sendOnce(quit, served));
      rooms.clear();
    } finally {
      state.lock.unlock();
    }
    send(state.closingLine(reason));
    outbox.close();
  }

  /** Returns the nick for replies: {@code *} until registered. */
  String nick() {
    return nick;
  }

  /** Returns {@code nick!user@host}, the source of lines from this user. */
  String mask() {
    return nick + "!" + user + "@" + host;
  }

  /** Returns {@code :nick!user@host } as bytes, the start of relayed lines. */
  byte[] prefix() {
    return prefix;
  }

  /** Sets the nick, at registration and at every change. */
  void setNick(String newNick) {
    nick = newNick;
    registered = true;
    prefix = LineEncoder.bytes(":" + mask() + " ");
  }

  /** Encodes a line with this user as its prefix. */
  byte[] lineFromUser(String text) {
    return LineEncoder.encode(":" + mask() + " " + text);
  }

  void send(byte[] bytes) {
    outbox.send(bytes);
  }

  /** Whether the client still gets lines: its send queue has not exceeded its limit. */
  boolean isOpen() {
    return outbox.isOpen();
  }

  /** Sends a line with the server as its prefix. */
  void sendFromServer(String text) {
    send(LineEncoder.encode(":" + state.identity.name() + " " + text));
  }

  /** Sends a numeric reply; {@code rest} follows the nick. */
  void reply(String numeric, String rest) {
    sendFromServer(numeric + " " + nick + " " + rest);
  }

  /** Sends as many numeric replies as the words need; each begins with {@code head}. */
  void replyList(String numeric, String head, Iterable<String> words) {
    int fixed = (":" + state.identity.name() + " " + numeric + " " + nick + " " + head).length();
    StringBuilder part = new StringBuilder();
    for (String word : words) {
      if (part.length() > 0 && fixed + part.length() + 1 + word.length() > Framer.MAX_LINE - 2) {
        if (!isOpen()) {
          return;
        }
        reply(numeric, head + part);
        part.setLength(0);
      }
      part.append(part.length() > 0 ? " " : "").append(word);
    }
    reply(numeric, head + part);
  }

  /** Returns the rooms of this session, sorted by their folded names. */
  Collection<Room> rooms() {
    return rooms.values();
  }

  boolean isIn(Room room) {
    return rooms.get(room.key) == room;
  }

  /** Returns the last target if {@code bytes[start, end)} is its name, else null. */
  Room lastTargetIfNamed(byte[] bytes, int start, int end) {
    Room last = lastTarget;
    if (last == null || last.privmsg.length != end - start + Privmsg.AROUND_TARGET) {
      return null;
    }
    int at = Privmsg.BEFORE_TARGET;
    return Arrays.equals(bytes, start, end, last.privmsg, at, at + end - start) ? last : null;
  }

  void setLastTarget(Room room) {
    lastTarget = room;
  }

  void join(Room room) {
    rooms.put(room.key, room);
    room.add(this);
  }

  void leave(Room room) {
    rooms.remove(room.key);
    lastTarget = null;
    state.leave(room, this);
  }
}
