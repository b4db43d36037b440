package org.klatch.chat;

import java.util.HashMap;
import java.util.Locale;
import java.util.Map;

/** Finds what a line asks for, and whether the session may ask for it yet. */
final class Commands {
  /** What one command does. */
  interface Command {
    void run(Session session, Line line);
  }

  private static final byte[] PRIVMSG = Wire.bytes("PRIVMSG");
  private static final Map<String, Command> BEFORE_REGISTRATION = new HashMap<>();
  private static final Map<String, Command> ALL = new HashMap<>();

  static {
    Registration.addTo(BEFORE_REGISTRATION);
    BEFORE_REGISTRATION.put("PING", About::ping);
    BEFORE_REGISTRATION.put("PONG", (session, line) -> {});
    BEFORE_REGISTRATION.put("QUIT", Commands::quit);
    ALL.putAll(BEFORE_REGISTRATION);
    About.addTo(ALL);
    Membership.addTo(ALL);
    Modes.addTo(ALL);
    People.addTo(ALL);
    RoomLists.addTo(ALL);
    ALL.put("AWAY", Talk::away);
  }

  private Commands() {}

  static void run(Session session, Line line) {
    // What is measured comes first, and makes no garbage but the line that is sent.
    if (session.registered() && line.is(PRIVMSG)) {
      Talk.privmsg(session, line);
      return;
    }
    String name = line.command().toUpperCase(Locale.ROOT);
    if (session.registered() && name.equals("NOTICE")) {
      Talk.notice(session, line);
      return;
    }
    Command command = (session.registered() ? ALL : BEFORE_REGISTRATION).get(name);
    if (command != null) {
      session.hall.lock.lock();
      try {
        command.run(session, line);
      } finally {
        session.hall.lock.unlock();
      }
    } else if (session.registered()) {
      session.reply("421", line.command() + " :Unknown command");
    } else {
      session.reply("451", ":You have not registered");
    }
  }

  /** Says that {@code line} has too few parameters. */
  static void needMore(Session session, String command) {
    session.reply("461", command + " :Not enough parameters");
  }

  private static void quit(Session session, Line line) {
    session.end(line.param(0).isEmpty() ? "Quit" : "Quit: " + line.param(0));
  }
}
