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
    } else if (isOne(session, names)) {
      Room room = session.state.room(names.get(0));
      if (room == null) {
        endOfNames(session, names.get(0));
      } else {
        names(session, room);
      }
    }
  }

  /**
   * Whether a command names at most one room; if not, replies so. A short line with many rooms
   * would make a long answer.
   */
  private static boolean isOne(Session session, List<String> names) {
    if (names.size() > 1) {
      session.reply("407", names.get(1) + " :Too many targets");
    }
    return names.size() <= 1;
  }

  private static void endOfNames(Session session, String name) {
    session.reply("366", name + " :End of /NAMES list");
  }

  private static void list(Session session, Line line) {
    List<String> names = Privmsg.split(line.param(0));
    if (!isOne(session, names)) {
      return;
    }
    session.reply("321", "Channel :Users  Name");
    if (names.isEmpty()) {
      for (Room room : session.state.rooms()) {
        if (!session.isOpen()) {
          return;
        }
        entry(session, room);
      }
    } else if (session.state.room(names.get(0)) != null) {
      entry(session, session.state.room(names.get(0)));
    }
    session.reply("323", ":End of /LIST");
  }

  private static void entry(Session session, Room room) {
    session.reply("322", room.name + " " + room.members().size() + " :" + room.topic);
  }
}
