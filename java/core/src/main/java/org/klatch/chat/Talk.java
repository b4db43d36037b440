package org.klatch.chat;

import java.util.ArrayList;
import java.util.List;

/** PRIVMSG, NOTICE and AWAY. Needs the hall's lock for none but AWAY. */
final class Talk {
  /** To how many one line may go. */
  static final int MAX_TARGETS = 4;

  /** Bytes before the target in {@link Room#privmsg}. */
  static final int BEFORE_TARGET = "PRIVMSG ".length();

  /** Bytes before and behind it. */
  static final int AROUND_TARGET = BEFORE_TARGET + " :".length();

  private Talk() {}

  static void privmsg(Session from, Line line) {
    if (line.params() >= 2 && line.paramStart(1) < line.paramEnd(1)) {
      Room room = from.spokenIn(line.bytes(), line.paramStart(0), line.paramEnd(0));
      if (room != null) {
        say(from, room, room.privmsg, line);
        return;
      }
    }
    List<String> targets = split(line.param(0));
    if (targets.isEmpty()) {
      from.reply("411", ":No recipient given (PRIVMSG)");
    } else if (line.param(1).isEmpty()) {
      from.reply("412", ":No text to send");
    } else if (targets.size() > MAX_TARGETS) {
      from.reply("407", targets.get(MAX_TARGETS) + " :Too many targets");
    } else {
      targets.forEach(target -> privmsgTo(from, target, line));
    }
  }

  /** As PRIVMSG, but nothing is ever answered. */
  static void notice(Session from, Line line) {
    List<String> targets = split(line.param(0));
    if (line.param(1).isEmpty() || targets.size() > MAX_TARGETS) {
      return;
    }
    for (String target : targets) {
      Room room = from.hall.room(target);
      Session to = from.hall.find(target);
      if (room != null && from.isIn(room)) {
        say(from, room, Wire.bytes("NOTICE " + room.name + " :"), line);
      } else if (to != null) {
        to.send(relay(from, Wire.bytes("NOTICE " + to.nick() + " :"), line));
      }
    }
  }

  static void away(Session session, Line line) {
    session.away = Wire.cut(line.param(0), About.MAX_AWAY);
    if (session.away.isEmpty()) {
      session.reply("305", ":You are no longer marked as being away");
    } else {
      session.reply("306", ":You have been marked as being away");
    }
  }

  /** The parts between commas that are not empty. */
  static List<String> split(String list) {
    List<String> parts = new ArrayList<>();
    int start = 0;
    for (int at = 0; at <= list.length(); at++) {
      if (at == list.length() || list.charAt(at) == ',') {
        if (at > start) {
          parts.add(list.substring(start, at));
        }
        start = at + 1;
      }
    }
    return parts;
  }

  private static void privmsgTo(Session from, String target, Line line) {
    if (target.startsWith("#")) {
      Room room = from.hall.room(target);
      if (room == null) {
        from.reply("403", target + " :No such channel");
      } else if (!from.isIn(room)) {
        from.reply("404", room.name + " :Cannot send to channel");
      } else {
        from.spokeIn(room);
        say(from, room, room.privmsg, line);
      }
      return;
    }
    Session to = from.hall.find(target);
    if (to == null) {
      from.reply("401", target + " :No such nick/channel");
      return;
    }
    to.send(relay(from, Wire.bytes("PRIVMSG " + to.nick() + " :"), line));
    if (!to.away.isEmpty()) {
      from.reply("301", to.nick() + " :" + to.away);
    }
  }

  private static void say(Session from, Room room, byte[] head, Line line) {
    room.send(relay(from, head, line), from);
  }

  private static byte[] relay(Session from, byte[] head, Line line) {
    return Wire.line(line.bytes(), line.paramStart(1), line.paramEnd(1), from.prefix(), head);
  }
}
