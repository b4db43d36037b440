package org.klatch.chat;

import java.util.Arrays;
import java.util.Collection;
import java.util.HashSet;
import java.util.Set;
import java.util.TreeMap;

/**
 * One connection to a hall. Its own methods are called by one thread at a time; what others read of
 * it is guarded by the hall or volatile.
 */
public final class Session {
  final Hall hall;
  final String host;
  private final Outbox outbox;
  private final Line line = new Line();
  private final TreeMap<String, Room> rooms =
      new TreeMap<>(); // by folded name; guarded by the hall
  private volatile boolean registered;
  private volatile String nick = "*"; // what it is called, once registered
  private byte[] prefix = {}; // ":nick!user@host ", for this session's own thread
  private Room lastSpokenIn; // saves the search in the map; only while a member
  private boolean over;

  final Registration registration = new Registration(this);

  /** The user name; set at registration. */
  String user = "";

  /** The real name; set at registration. */
  String real = "";

  /** Empty if not away. */
  volatile String away = "";

  Session(Hall hall, String host, Outbox outbox) {
    this.hall = hall;
    this.host = host;
    this.outbox = outbox;
  }

  /**
   * Handles what came from the connection.
   *
   * @param event what {@code framing} found last
   * @return false once the session is over; nothing more is to be handed in then
   */
  public boolean take(Framing.Event event, Framing framing) {
    switch (event) {
      case LINE -> {
        if (line.parse(framing.buffer(), framing.start(), framing.end())) {
          Commands.run(this, line);
        }
      }
      case TOO_LONG -> reply("417", ":Input line was too long");
      case NUL -> end("NUL in input");
      case NONE -> {}
    }
    return !over;
  }

  /** Whether it has come in. */
  public boolean registered() {
    return registered;
  }

  /**
   * Ends the session: tells it and its rooms why, and closes its outbox. Does nothing the second
   * time.
   *
   * @param reason in words, such as {@code Connection closed}
   */
  public void end(String reason) {
    if (over) {
      return;
    }
    over = true;
    hall.lock.lock();
    try {
      registration.release();
      if (registered) {
        hall.countRegistered(-1);
      }
      rooms.values().forEach(room -> hall.leave(room, this));
      Set<Session> served = new HashSet<>();
      byte[] quit = fromHere("QUIT :" + reason);
      rooms.values().forEach(room -> room.sendOnce(quit, served));
      rooms.clear();
    } finally {
      hall.lock.unlock();
    }
    send(Wire.line("ERROR :Closing link: (" + reason + ")"));
    outbox.close();
  }

  /** What it is called in replies: {@code *} until it is registered. */
  String nick() {
    return nick;
  }

  /** {@code nick!user@host}. */
  String mask() {
    return nick + "!" + user + "@" + host;
  }

  /** {@code :nick!user@host } as bytes. */
  byte[] prefix() {
    return prefix;
  }

  /** Comes in under a nick, or goes by another one. */
  void call(String newNick) {
    nick = newNick;
    registered = true;
    prefix = Wire.bytes(":" + mask() + " ");
  }

  /** A line from this session to others. */
  byte[] fromHere(String text) {
    return Wire.line(":" + mask() + " " + text);
  }

  void send(byte[] bytes) {
    outbox.send(bytes);
  }

  /** A line from the server. */
  void sendFromServer(String text) {
    send(Wire.line(":" + hall.identity.name() + " " + text));
  }

  /** A numeric reply; {@code rest} follows the nick. */
  void reply(String numeric, String rest) {
    sendFromServer(numeric + " " + nick + " " + rest);
  }

  /** As many numeric replies as the words need; each begins with {@code head}. */
  void replyWords(String numeric, String head, Iterable<String> words) {
    int fixed = (":" + hall.identity.name() + " " + numeric + " " + nick + " " + head).length();
    StringBuilder part = new StringBuilder();
    for (String word : words) {
      if (part.length() > 0 && fixed + part.length() + 1 + word.length() > Framing.MAX_LINE - 2) {
        reply(numeric, head + part);
        part.setLength(0);
      }
      part.append(part.length() > 0 ? " " : "").append(word);
    }
    reply(numeric, head + part);
  }

  /** The rooms it is in, sorted by their folded names. */
  Collection<Room> rooms() {
    return rooms.values();
  }

  boolean isIn(Room room) {
    return rooms.get(room.key) == room;
  }

  /** The room that {@code line}'s parameter names, if it is the one it spoke in last, else null. */
  Room spokenIn(byte[] bytes, int start, int end) {
    Room last = lastSpokenIn;
    if (last == null || last.privmsg.length != end - start + Talk.AROUND_TARGET) {
      return null;
    }
    int at = Talk.BEFORE_TARGET;
    return Arrays.equals(bytes, start, end, last.privmsg, at, at + end - start) ? last : null;
  }

  void spokeIn(Room room) {
    lastSpokenIn = room;
  }

  void enter(Room room) {
    rooms.put(room.key, room);
    room.add(this);
  }

  void leave(Room room) {
    rooms.remove(room.key);
    lastSpokenIn = null;
    hall.leave(room, this);
  }
}
