package org.klatch.chat;

import java.util.List;
import java.util.Map;

/** What one may ask about the server itself, and what it does for nobody. */
final class About {
  /** Bytes of the longest away message. */
  static final int MAX_AWAY = 200;

  private About() {}

  static void addTo(Map<String, Commands.Command> commands) {
    commands.put("LUSERS", (session, line) -> lusers(session));
    commands.put("MOTD", About::motd);
    commands.put("VERSION", About::version);
    commands.put("OPER", About::oper);
    for (String name : List.of("CONNECT", "DIE", "KILL", "REHASH", "RESTART", "SQUIT", "WALLOPS")) {
      commands.put(name, About::notOperator);
    }
  }

  static void welcome(Session session) {
    Identity we = session.hall.identity;
    session.reply("001", ":Welcome to " + we.network() + ", " + session.mask());
    session.reply("002", ":Your host is " + we.name() + ", running " + we.version());
    session.reply("003", ":This server was created " + we.created());
    session.reply("004", we.name() + " " + we.version() + " i bn");
    String[] support = {
      "AWAYLEN=" + MAX_AWAY,
      "CASEMAPPING=rfc1459",
      "CHANLIMIT=#:" + Membership.MAX_ROOMS,
      "CHANMODES=b,,,n",
      "CHANNELLEN=" + Names.MAX_CHANNEL,
      "CHANTYPES=#",
      "NETWORK=" + we.network(),
      "NICKLEN=" + Names.MAX_NICK,
      "PREFIX=",
      "TARGMAX=JOIN:,LIST:,NAMES:,NOTICE:%d,PART:,PRIVMSG:%<d,WHOIS:1".formatted(Talk.MAX_TARGETS),
      "TOPICLEN=" + Membership.MAX_TOPIC,
      "USERLEN=" + Registration.MAX_USER,
    };
    session.reply("005", String.join(" ", support) + " :are supported by this server");
    lusers(session);
    sendMotd(session);
  }

  static void ping(Session session, Line line) {
    if (line.param(0).isEmpty()) {
      session.reply("409", ":No origin specified");
    } else {
      session.sendFromServer("PONG " + session.hall.identity.name() + " :" + line.param(0));
    }
  }

  private static void lusers(Session session) {
    Hall hall = session.hall;
    session.reply("251", ":There are 0 users and " + hall.registered() + " invisible on 1 servers");
    session.reply("254", hall.roomCount() + " :channels formed");
    session.reply("255", ":I have " + hall.registered() + " clients and 0 servers");
  }

  private static void motd(Session session, Line line) {
    if (isHere(session, line)) {
      sendMotd(session);
    }
  }

  private static void sendMotd(Session session) {
    Identity we = session.hall.identity;
    session.reply("375", ":- " + we.name() + " Message of the day -");
    session.reply("372", ":- " + we.motd());
    session.reply("376", ":End of /MOTD command");
  }

  private static void version(Session session, Line line) {
    Identity we = session.hall.identity;
    if (isHere(session, line)) {
      session.reply("351", we.version() + " " + we.name() + " :" + we.network());
    }
  }

  /** Whether the line asks this server; if not, says that there is no other. */
  private static boolean isHere(Session session, Line line) {
    String asked = line.param(0);
    if (asked.isEmpty() || Names.fold(asked).equals(Names.fold(session.hall.identity.name()))) {
      return true;
    }
    session.reply("402", asked + " :No such server");
    return false;
  }

  private static void oper(Session session, Line line) {
    if (line.params() < 2) {
      Commands.needMore(session, "OPER");
    } else {
      session.reply("491", ":No O-lines for your host");
    }
  }

  private static void notOperator(Session session, Line line) {
    session.reply("481", ":Permission Denied- You're not an IRC operator");
  }
}
