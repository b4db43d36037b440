package org.klatch.chat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/** The commands WHO, WHOIS, WHOWAS, USERHOST and ISON. They run under the state's lock. */
final class UserQueries {
  private static final int MAX_USERHOST = 5;

  private UserQueries() {}

  static void addTo(Map<String, Commands.Command> commands) {
    commands.put("ISON", UserQueries::ison);
    commands.put("USERHOST", UserQueries::userhost);
    commands.put("WHO", UserQueries::who);
    commands.put("WHOIS", UserQueries::whois);
    commands.put("WHOWAS", UserQueries::whowas);
  }

  /**
   * Returns the registered session with this nick; if there is none, replies so and returns null.
   */
  static Session find(Session session, String nick) {
    Session user = session.state.find(nick);
    if (user == null) {
      session.reply("401", nick + " :No such nick/channel");
    }
    return user;
  }

  private static void who(Session session, Line line) {
    String mask = line.param(0);
    Room room = session.state.room(mask);
    Session user = session.state.find(mask);
    if (room != null) {
      for (Session member : room.members()) {
        if (!session.isOpen()) {
          return;
        }
        replyWho(session, room.name, member);
      }
    } else if (user != null) {
      replyWho(session, "*", user);
    }
    session.reply("315", (mask.isEmpty() ? "*" : mask) + " :End of WHO list");
  }

  private static void replyWho(Session session, String room, Session user) {
    String status = user.away.isEmpty() ? "H" : "G";
    String server = session.state.identity.name();
    String[] words = {room, user.user, user.host, server, user.nick(), status, ":0", user.real};
    session.reply("352", String.join(" ", words));
  }

  private static void whois(Session session, Line line) {
    String nick = line.params() > 1 ? line.param(1) : line.param(0);
    if (nick.isEmpty()) {
      session.reply("431", ":No nickname given");
      return;
    }
    Session user = find(session, nick);
    if (user != null) {
      nick = user.nick();
      session.reply("311", nick + " " + user.user + " " + user.host + " * :" + user.real);
      if (!user.rooms().isEmpty()) {
        session.replyList("319", nick + " :", user.rooms().stream().map(r -> r.name).toList());
      }
      Identity identity = session.state.identity;
      session.reply("312", nick + " " + identity.name() + " :" + identity.network());
      if (!user.away.isEmpty()) {
        session.reply("301", nick + " :" + user.away);
      }
    }
    session.reply("318", nick + " :End of /WHOIS list");
  }

  /** Replies that the nick was not in use: the server has no history. */
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
      Commands.replyNeedMoreParams(session, "USERHOST");
      return;
    }
    List<String> replies = new ArrayList<>();
    for (String nick : nicks.subList(0, Math.min(nicks.size(), MAX_USERHOST))) {
      Session user = session.state.find(nick);
      if (user != null) {
        String status = user.away.isEmpty() ? "+" : "-";
        replies.add(user.nick() + "=" + status + user.user + "@" + user.host);
      }
    }
    session.reply("302", ":" + String.join(" ", replies));
  }

  private static void ison(Session session, Line line) {
    List<String> nicks = words(line);
    if (nicks.isEmpty()) {
      Commands.replyNeedMoreParams(session, "ISON");
      return;
    }
    List<String> replies = new ArrayList<>();
    for (String nick : nicks) {
      Session user = session.state.find(nick);
      if (user != null) {
        replies.add(user.nick());
      }
    }
    session.replyList("303", ":", replies);
  }

  /** Splits all parameters into words. */
  private static List<String> words(Line line) {
    List<String> words = new ArrayList<>();
    for (int i = 0; i < line.params(); i++) {
      Arrays.stream(line.param(i).split(" ")).filter(word -> !word.isEmpty()).forEach(words::add);
    }
    return words;
  }
}
