package org.klatch.chat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/** Who somebody is: WHO, WHOIS, WHOWAS, USERHOST, ISON. Guarded by the hall. */
final class People {
  private static final int MAX_USERHOST = 5;

  private People() {}

  static void addTo(Map<String, Commands.Command> commands) {
    commands.put("ISON", People::ison);
    commands.put("USERHOST", People::userhost);
    commands.put("WHO", People::who);
    commands.put("WHOIS", People::whois);
    commands.put("WHOWAS", People::whowas);
  }

  /** The registered session of that nick, or null after having said that there is none. */
  static Session find(Session session, String nick) {
    Session found = session.hall.find(nick);
    if (found == null) {
      session.reply("401", nick + " :No such nick/channel");
    }
    return found;
  }

  private static void who(Session session, Line line) {
    String mask = line.param(0);
    Room room = session.hall.room(mask);
    Session person = session.hall.find(mask);
    if (room != null) {
      room.members().forEach(member -> whoReply(session, room.name, member));
    } else if (person != null) {
      whoReply(session, "*", person);
    }
    session.reply("315", (mask.isEmpty() ? "*" : mask) + " :End of WHO list");
  }

  private static void whoReply(Session session, String room, Session who) {
    String here = who.away.isEmpty() ? "H" : "G";
    String server = session.hall.identity.name();
    String[] words = {room, who.user, who.host, server, who.nick(), here, ":0", who.real};
    session.reply("352", String.join(" ", words));
  }

  private static void whois(Session session, Line line) {
    String nick = line.params() > 1 ? line.param(1) : line.param(0);
    if (nick.isEmpty()) {
      session.reply("431", ":No nickname given");
      return;
    }
    Session who = find(session, nick);
    if (who != null) {
      nick = who.nick();
      session.reply("311", nick + " " + who.user + " " + who.host + " * :" + who.real);
      if (!who.rooms().isEmpty()) {
        session.replyWords("319", nick + " :", who.rooms().stream().map(r -> r.name).toList());
      }
      Identity we = session.hall.identity;
      session.reply("312", nick + " " + we.name() + " :" + we.network());
      if (!who.away.isEmpty()) {
        session.reply("301", nick + " :" + who.away);
      }
    }
    session.reply("318", nick + " :End of /WHOIS list");
  }

  /** Nobody is remembered. */
  private static void whowas(Session session, Line line) {
    String nick = line.param(0);
    if (nick.isEmpty()) {
      session.reply("431", ":No nickname given");
      return;
    }
    session.reply("406", nick + " :There was no such nickname");
    session.reply("369", nick + " :End of WHOWAS");
  }

  private static void userhost(Session session, Line line) {
    List<String> nicks = words(line);
    if (nicks.isEmpty()) {
      Commands.needMore(session, "USERHOST");
      return;
    }
    List<String> found = new ArrayList<>();
    for (String nick : nicks.subList(0, Math.min(nicks.size(), MAX_USERHOST))) {
      Session who = session.hall.find(nick);
      if (who != null) {
        String here = who.away.isEmpty() ? "+" : "-";
        found.add(who.nick() + "=" + here + who.user + "@" + who.host);
      }
    }
    session.reply("302", ":" + String.join(" ", found));
  }

  private static void ison(Session session, Line line) {
    List<String> nicks = words(line);
    if (nicks.isEmpty()) {
      Commands.needMore(session, "ISON");
      return;
    }
    List<String> found = new ArrayList<>();
    for (String nick : nicks) {
      Session who = session.hall.find(nick);
      if (who != null) {
        found.add(who.nick());
      }
    }
    session.replyWords("303", ":", found);
  }

  /** The words in all parameters. */
  private static List<String> words(Line line) {
    List<String> words = new ArrayList<>();
    for (int i = 0; i < line.params(); i++) {
      Arrays.stream(line.param(i).split(" ")).filter(word -> !word.isEmpty()).forEach(words::add);
    }
    return words;
  }
}
