package org.klatch.chat;

import java.util.List;
import java.util.Map;

/** The commands NAMES and LIST. They run under the state's lock. */
final class RoomLists {
  private RoomLists() {}

  static void addTo(Map<String, Commands.Command> commands) {
    commands.put("LIST", RoomLists::list);
    commands.put("NAMES", RoomLists::names);
  }

  /** Replies with the members of a room, in the order of joining. */
  static void names(Session session, Room room) {
    List<String> nicks = room.members().stream().map(Session::nick).toList();
    session.replyList("353", "= " + room.name + " :", nicks);
    endOfNames(session, room.name);
  }

  private static void names(Session session, Line line) {
    List<String> names = Privmsg.split(line.param(0));
    if (names.isEmpty()) {
      endOfNames(session, "*");
    }
    for (String name : names) {
      Room room = session.state.room(name);
      if (room == null) {
        endOfNames(session, name);
      } else {
        names(session, room);
      }
    }
  }

  private static void endOfNames(Session session, String name) {
    session.reply("366", name + " :End of /NAMES list");
  }

  private static void list(Session session, Line line) {
    session.reply("321", "Channel :Users  Name");
    List<String> names = Privmsg.split(line.param(0));
    if (names.isEmpty()) {
      session.state.rooms().forEach(room -> entry(session, room));
    }
    for (String name : names) {
      Room room = session.state.room(name);
      if (room != null) {
        entry(session, room);
      }
    }
    session.reply("323", ":End of /LIST");
  }

  private static void entry(Session session, Room room) {
    session.reply("322", room.name + " " + room.members().size() + " :" + room.topic);
  }
}
