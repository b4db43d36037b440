package org.klatch.chat;

import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The commands JOIN, PART, TOPIC, INVITE and KICK. They run under the state's lock. */
final class Membership {
  /** Most rooms that one session may be in. */
  static final int MAX_ROOMS = 50;

  /** Longest topic, in bytes. */
  static final int MAX_TOPIC = 300;

  private Membership() {}

  static void addTo(Map<String, Commands.Command> commands) {
    commands.put("INVITE", Membership::invite);
    commands.put("JOIN", Membership::join);
    commands.put("KICK", Membership::kick);
    commands.put("PART", Membership::part);
    commands.put("TOPIC", Membership::topic);
  }

  /** Sends a line once to the session and to every user in one of its rooms. */
  static void sendToUserAndPeers(Session session, byte[] bytes) {
    Set<Session> served = new HashSet<>();
    served.add(session);
    session.send(bytes);
    session.rooms().forEach(room -> room.sendOnce(bytes, served));
  }

  /** Returns the room with this name; if there is none, replies so and returns null. */
  static Room existingRoom(Session session, String name) {
    Room room = session.state.room(name);
    if (room == null) {
      session.reply("403", name + " :No such channel");
    }
    return room;
  }

  /** Whether the session is in the room; if not, replies so. */
  static boolean isIn(Session session, Room room) {
    if (!session.isIn(room)) {
      session.reply("442", room.name + " :You're not on that channel");
    }
    return session.isIn(room);
  }

  private static void join(Session session, Line line) {
    List<String> names = Privmsg.split(line.param(0));
    if (names.isEmpty()) {
      Commands.replyNeedMoreParams(session, "JOIN");
    } else if (names.equals(List.of("0"))) {
      List.copyOf(session.rooms()).forEach(room -> leave(session, room, ""));
    } else {
      names.forEach(name -> join(session, name));
    }
  }

  private static void join(Session session, String name) {
    Room existing = session.state.room(name);
    if (!Names.validChannel(name)) {
      session.reply("403", name + " :No such channel");
    } else if (existing != null && session.isIn(existing)) {
      return;
    } else if (session.rooms().size() >= MAX_ROOMS) {
      session.reply("405", name + " :You have joined too many channels");
    } else {
      Room room = session.state.roomFor(name);
      session.join(room);
      room.send(session.lineFromUser("JOIN " + room.name), null);
      if (!room.topic.isEmpty()) {
        session.reply("332", room.name + " :" + room.topic);
      }
      RoomLists.names(session, room);
    }
  }

  private static void part(Session session, Line line) {
    List<String> names = Privmsg.split(line.param(0));
    if (names.isEmpty()) {
      Commands.replyNeedMoreParams(session, "PART");
    }
    for (String name : names) {
      Room room = existingRoom(session, name);
      if (room != null && isIn(session, room)) {
        leave(session, room, line.param(1));
      }
    }
  }

  private static void leave(Session session, Room room, String reason) {
    String suffix = reason.isEmpty() ? "" : " :" + reason;
    room.send(session.lineFromUser("PART " + room.name + suffix), null);
    session.leave(room);
  }

  private static void topic(Session session, Line line) {
    if (line.param(0).isEmpty()) {
      Commands.replyNeedMoreParams(session, "TOPIC");
      return;
    }
    Room room = existingRoom(session, line.param(0));
    if (room == null) {
      return;
    }
    if (line.params() > 1) {
      if (isIn(session, room)) {
        room.topic = LineEncoder.truncate(line.param(1), MAX_TOPIC);
        room.send(session.lineFromUser("TOPIC " + room.name + " :" + room.topic), null);
      }
    } else if (room.topic.isEmpty()) {
      session.reply("331", room.name + " :No topic is set");
    } else {
      session.reply("332", room.name + " :" + room.topic);
    }
  }

  private static void invite(Session session, Line line) {
    if (line.params() < 2) {
      Commands.replyNeedMoreParams(session, "INVITE");
      return;
    }
    Session guest = UserQueries.find(session, line.param(0));
    Room room = guest == null ? null : existingRoom(session, line.param(1));
    if (room == null || !isIn(session, room)) {
      return;
    }
    if (guest.isIn(room)) {
      session.reply("443", guest.nick() + " " + room.name + " :is already on channel");
    } else {
      session.reply("341", guest.nick() + " " + room.name);
      guest.send(session.lineFromUser("INVITE " + guest.nick() + " " + room.name));
    }
  }

  /** Refuses every KICK: there are no channel operators. */
  private static void kick(Session session, Line line) {
    if (line.params() < 2) {
      Commands.replyNeedMoreParams(session, "KICK");
      return;
    }
    Room room = existingRoom(session, line.param(0));
    if (room != null && isIn(session, room)) {
      Modes.notOperator(session, room);
    }
  }
}
