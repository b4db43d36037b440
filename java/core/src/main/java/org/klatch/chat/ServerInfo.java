package org.klatch.chat;

import java.util.List;
import java.util.Map;

/** Queries about the server itself, and the operator commands that it refuses. */
final class ServerInfo {
  /** Longest away message, in bytes. */
  static final int MAX_AWAY = 200;

  private ServerInfo() {}

  static void addTo(Map<String, Commands.Command> commands) {
    commands.put("LUSERS", (session, line) -> lusers(session));
    commands.put("MOTD", ServerInfo::motd);
    commands.put("VERSION", ServerInfo::version);
    commands.put("OPER", ServerInfo::oper);
    for (String name : List.of("CONNECT", "DIE", "KILL", "REHASH", "RESTART", "SQUIT", "WALLOPS")) {
      commands.put(name, ServerInfo::notOperator);
    }
  }

  static void welcome(Session session) {
    Identity identity = session.state.identity;
    session.reply("001", ":Welcome to " + identity.network() + ", " + session.mask());
    session.reply("002", ":Your host is " + identity.name() + ", running " + identity.version());
    session.reply("003", ":This server was created " + identity.created());
    session.reply("004", identity.name() + " " + identity.version() + " i bn");
    String[] support = {
      "AWAYLEN=" + MAX_AWAY,
      "CASEMAPPING=rfc1459",
      "CHANLIMIT=#:" + Membership.MAX_ROOMS,
      "CHANMODES=b,,,n",
      "CHANNELLEN=" + Names.MAX_CHANNEL,
      "CHANTYPES=#",
      "NETWORK=" + identity.network(),
      "NICKLEN=" + Names.MAX_NICK,
      "PREFIX=",
      "TARGMAX=JOIN:,LIST:1,NAMES:1,NOTICE:%d,PART:,PRIVMSG:%<d,WHOIS:1"
          .formatted(Privmsg.MAX_TARGETS),
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
      session.sendFromServer("PONG " + session.state.identity.name() + " :" + line.param(0));
    }
  }

  private static void lusers(Session session) {
    ServerState state = session.state;
    session.reply(
        "251", ":There are 0 users and " + state.registered() + " invisible on 1 servers");
    session.reply("254", state.roomCount() + " :channels formed");
    session.reply("255", ":I have " + state.registered() + " clients and 0 servers");
  }

  private static void motd(Session session, Line line) {
    if (isForThisServer(session, line)) {
      sendMotd(session);
    }
  }

  private static void sendMotd(Session session) {
    Identity identity = session.state.identity;
    session.reply("375", ":- " + identity.name() + " Message of the day -");
    session.reply("372", ":- " + identity.motd());
    session.reply("376", ":End of /MOTD command");
  }

  private static void version(Session session, Line line) {
    Identity identity = session.state.identity;
    if (isForThisServer(session, line)) {
      session.reply("351", identity.version() + " " + identity.name() + " :" + identity.network());
    }
  }

  /** Whether the line names this server or none; otherwise replies that there is no such server. */
  private static boolean isForThisServer(Session session, Line line) {
    String server = line.param(0);
    if (server.isEmpty() || Names.fold(server).equals(Names.fold(session.state.identity.name()))) {
      return true;
    }
    session.reply("402", server + " :No such server");
    return false;
  }

  private static void oper(Session session, Line line) {
    if (line.params() < 2) {
      Commands.replyNeedMoreParams(session, "OPER");
    } else {
      session.reply("491", ":No O-lines for your host");
    }
  }

  private static void notOperator(Session session, Line line) {
    session.reply("481", ":Permission Denied- You're not an IRC operator");
  }
}
