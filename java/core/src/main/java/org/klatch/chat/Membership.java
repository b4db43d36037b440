package org.klatch.chat;

import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Who is in which room: JOIN, PART, TOPIC, INVITE, KICK. Guarded by the hall. */
final class Membership {
  /** Rooms that one session may be in. */
  static final int MAX_ROOMS = 50;

  /** Bytes of the longest topic. */
  static final int MAX_TOPIC = 300;

  private Membership() {}

  static void addTo(Map<String, Commands.Command> commands) {
    commands.put("INVITE", Membership::invite);
    commands.put("JOIN", Membership::join);
    commands.put("KICK", Membership::kick);
    commands.put("PART", Membership::part);
    commands.put("TOPIC", Membership::topic);
  }

  /** Sends a line once to the session and to everybody who shares a room with it. */
  static void tellAll(Session session, byte[] bytes) {
    Set<Session> served = new HashSet<>();
    served.add(session);
    session.send(bytes);
    session.rooms().forEach(room -> room.sendOnce(bytes, served));
  }

  /** The room of that name, or null after having said that there is none. */
  static Room find(Session session, String name) {
    Room room = session.hall.room(name);
    if (room == null) {
      session.reply("403", name + " :No such channel");
    }
    return room;
  }

  /** Whether the session is in the room; if not, it is told so. */
  static boolean isIn(Session session, Room room) {
    if (!session.isIn(room)) {
      session.reply("442", room.name + " :You're not on that channel");
    }
    return session.isIn(room);
  }

  private static void join(Session session, Line line) {
    List<String> names = Talk.split(line.param(0));
    if (names.isEmpty()) {
      Commands.needMore(session, "JOIN");
    } else if (names.equals(List.of("0"))) {
      List.copyOf(session.rooms()).forEach(room -> leave(session, room, ""));
    } else {
      names.forEach(name -> join(session, name));
    }
  }

  private static void join(Session session, String name) {
    Room known = session.hall.room(name);
    if (!Names.validChannel(name)) {
      session.reply("403", name + " :No such channel");
    } else if (known != null && session.isIn(known)) {
      return;
    } else if (session.rooms().size() >= MAX_ROOMS) {
      session.reply("405", name + " :You have joined too many channels");
    } else {
      Room room = session.hall.roomFor(name);
      session.enter(room);
      room.send(session.fromHere("JOIN " + room.name), null);
      if (!room.topic.isEmpty()) {
        session.reply("332", room.name + " :" + room.topic);
      }
      RoomLists.names(session, room);
    }
  }

  private static void part(Session session, Line line) {
    List<String> names = Talk.split(line.param(0));
    if (names.isEmpty()) {
      Commands.needMore(session, "PART");
    }
    for (String name : names) {
      Room room = find(session, name);
      if (room != null && isIn(session, room)) {
        leave(session, room, line.param(1));
      }
    }
  }

  private static void leave(Session session, Room room, String reason) {
    String why = reason.isEmpty() ? "" : " :" + reason;
    room.send(session.fromHere("PART " + room.name + why), null);
    session.leave(room);
  }

  private static void topic(Session session, Line line) {
    if (line.param(0).isEmpty()) {
      Commands.needMore(session, "TOPIC");
      return;
    }
    Room room = find(session, line.param(0));
    if (room == null) {
      return;
    }
    if (line.params() > 1) {
      if (isIn(session, room)) {
        room.topic = Wire.cut(line.param(1), MAX_TOPIC);
        room.send(session.fromHere("TOPIC " + room.name + " :" + room.topic), null);
      }
    } else if (room.topic.isEmpty()) {
      session.reply("331", room.name + " :No topic is set");
    } else {
      session.reply("332", room.name + " :" + room.topic);
    }
  }

  private static void invite(Session session, Line line) {
    if (line.params() < 2) {
      Commands.needMore(session, "INVITE");
      return;
    }
    Session guest = People.find(session, line.param(0));
    Room room = guest == null ? null : find(session, line.param(1));
    if (room == null || !isIn(session, room)) {
      return;
    }
    if (guest.isIn(room)) {
      session.reply("443", guest.nick() + " " + room.name + " :is already on channel");
    } else {
      session.reply("341", guest.nick() + " " + room.name);
      guest.send(session.fromHere("INVITE " + guest.nick() + " " + room.name));
    }
  }

  /** Nobody is operator, so nobody kicks. */
  private static void kick(Session session, Line line) {
    if (line.params() < 2) {
      Commands.needMore(session, "KICK");
      return;
    }
    Room room = find(session, line.param(0));
    if (room != null && isIn(session, room)) {
      Modes.notOperator(session, room);
    }
  }
}
