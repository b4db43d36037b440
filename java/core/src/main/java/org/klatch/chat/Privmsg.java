package org.klatch.chat;

import java.util.ArrayList;
import java.util.List;

/** The commands PRIVMSG, NOTICE and AWAY. Only AWAY runs under the state's lock. */
final class Privmsg {
  /** Most targets of one line. */
  static final int MAX_TARGETS = 4;

  /** Bytes before the target in {@link Room#privmsg}. */
  static final int BEFORE_TARGET = "PRIVMSG ".length();

  /** Bytes before and after the target in {@link Room#privmsg}. */
  static final int AROUND_TARGET = BEFORE_TARGET + " :".length();

  private Privmsg() {}

  static void privmsg(Session from, Line line) {
    if (line.params() >= 2 && line.paramStart(1) < line.paramEnd(1)) {
      Room room = from.lastTargetIfNamed(line.bytes(), line.paramStart(0), line.paramEnd(0));
      if (room != null) {
        sendToRoom(from, room, room.privmsg, line);
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

  /** As PRIVMSG, but the sender never gets a reply. */
  static void notice(Session from, Line line) {
    List<String> targets = split(line.param(0));
    if (line.param(1).isEmpty() || targets.size() > MAX_TARGETS) {
      return;
    }
    for (String target : targets) {
      Room room = from.state.room(target);
      Session to = from.state.find(target);
      if (room != null && from.isIn(room)) {
        sendToRoom(from, room, LineEncoder.bytes("NOTICE " + room.name + " :"), line);
      } else if (to != null) {
        to.send(relay(from, LineEncoder.bytes("NOTICE " + to.nick() + " :"), line));
      }
    }
  }

  static void away(Session session, Line line) {
    session.away = LineEncoder.truncate(line.param(0), ServerInfo.MAX_AWAY);
    if (session.away.isEmpty()) {
      session.reply("305", ":You are no longer marked as being away");
    } else {
      session.reply("306", ":You have been marked as being away");
    }
  }

  /** Splits at commas, without the empty parts. */
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
      Room room = from.state.room(target);
      if (room == null) {
        from.reply("403", target + " :No such channel");
      } else if (!from.isIn(room)) {
        from.reply("404", room.name + " :Cannot send to channel");
      } else {
        from.setLastTarget(room);
        sendToRoom(from, room, room.privmsg, line);
      }
      return;
    }
    Session to = from.state.find(target);
    if (to == null) {
      from.reply("401", target + " :No such nick/channel");
      return;
    }
    to.send(relay(from, LineEncoder.bytes("PRIVMSG " + to.nick() + " :"), line));
    if (!to.away.isEmpty()) {
      from.reply("301", to.nick() + " :" + to.away);
    }
  }

  private static void sendToRoom(Session from, Room room, byte[] head, Line line) {
    room.send(relay(from, head, line), from);
  }

  private static byte[] relay(Session from, byte[] head, Line line) {
    return LineEncoder.encode(
        line.bytes(), line.paramStart(1), line.paramEnd(1), from.prefix(), head);
  }
}
