package org.klatch.chat;

import java.util.HashMap;
import java.util.Locale;
import java.util.Map;

/** Dispatches a line to its command, if the session may use that command yet. */
final class Commands {
  /** Handler of one IRC command. Called with the state's lock held. */
  interface Command {
    void run(Session session, Line line);
  }

  private static final byte[] PRIVMSG = LineEncoder.bytes("PRIVMSG");
  private static final Map<String, Command> BEFORE_REGISTRATION = new HashMap<>();
  private static final Map<String, Command> ALL = new HashMap<>();

  static {
    Registration.addTo(BEFORE_REGISTRATION);
    BEFORE_REGISTRATION.put("PING", ServerInfo::ping);
    BEFORE_REGISTRATION.put("PONG", (session, line) -> {});
    BEFORE_REGISTRATION.put("QUIT", Commands::quit);
    ALL.putAll(BEFORE_REGISTRATION);
    ServerInfo.addTo(ALL);
    Membership.addTo(ALL);
    Modes.addTo(ALL);
    UserQueries.addTo(ALL);
    RoomLists.addTo(ALL);
    ALL.put("AWAY", Privmsg::away);
  }

  private Commands() {}

  static void run(Session session, Line line) {
    // The measured path is tried first. It allocates nothing but the line that is sent.
    if (session.registered() && line.is(PRIVMSG)) {
      Privmsg.privmsg(session, line);
      return;
    }
    String name = line.command().toUpperCase(Locale.ROOT);
    if (session.registered() && name.equals("NOTICE")) {
      Privmsg.notice(session, line);
      return;
    }
    if (!session.isOpen()) {
      return; // its client does not read, and its connection is about to be closed
    }
    Command command = (session.registered() ? ALL : BEFORE_REGISTRATION).get(name);
    if (command != null) {
      session.state.lock.lock();
      try {
        command.run(session, line);
      } finally {
        session.state.lock.unlock();
      }
    } else if (session.registered()) {
      session.reply("421", line.command() + " :Unknown command");
    } else {
      session.reply("451", ":You have not registered");
    }
  }

  /** Replies that {@code command} was given too few parameters. */
  static void replyNeedMoreParams(Session session, String command) {
    session.reply("461", command + " :Not enough parameters");
  }

  private static void quit(Session session, Line line) {
    session.end(line.param(0).isEmpty() ? "Quit" : "Quit: " + line.param(0));
  }
}
