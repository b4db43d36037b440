package org.klatch.chat;

import java.util.Locale;
import java.util.Map;

/** How a connection comes in: CAP, PASS, NICK, USER, and the welcome. Guarded by the hall. */
final class Registration {
  static final int MAX_USER = 16;

  private final Session session;
  private String nick = ""; // taken, whether registered or not
  private String user = "";
  private String real = "";
  private boolean negotiating; // CAP has begun and not ended

  Registration(Session session) {
    this.session = session;
  }

  static void addTo(Map<String, Commands.Command> commands) {
    commands.put("CAP", (session, line) -> session.registration.cap(line));
    commands.put("PASS", (session, line) -> session.registration.pass(line));
    commands.put("NICK", (session, line) -> session.registration.nick(line));
    commands.put("USER", (session, line) -> session.registration.user(line));
  }

  /** Gives the nick back. */
  void release() {
    if (!nick.isEmpty()) {
      session.hall.release(nick);
    }
  }

  private void cap(Line line) {
    String ask = line.param(0).toUpperCase(Locale.ROOT);
    switch (ask) {
      case "" -> Commands.needMore(session, "CAP");
      case "LS" -> {
        negotiating = !session.registered();
        capReply("LS :");
      }
      case "LIST" -> capReply("LIST :");
      case "REQ" -> {
        negotiating = !session.registered();
        capReply("NAK :" + line.param(1));
      }
      case "END" -> {
        negotiating = false;
        comeIn();
      }
      default -> session.reply("410", line.param(0) + " :Invalid CAP command");
    }
  }

  private void capReply(String rest) {
    session.sendFromServer("CAP " + session.nick() + " " + rest);
  }

  private void pass(Line line) {
    if (session.registered()) {
      session.reply("462", ":You may not reregister");
    } else if (line.param(0).isEmpty()) {
      Commands.needMore(session, "PASS");
    }
  }

  private void nick(Line line) {
    String wanted = line.param(0);
    if (wanted.isEmpty()) {
      session.reply("431", ":No nickname given");
    } else if (!Names.validNick(wanted)) {
      session.reply("432", wanted + " :Erroneous nickname");
    } else if (!session.hall.claim(wanted, session)) {
      session.reply("433", wanted + " :Nickname is already in use");
    } else if (!wanted.equals(nick)) {
      take(wanted);
    }
  }

  private void take(String wanted) {
    if (!nick.isEmpty() && !Names.fold(nick).equals(Names.fold(wanted))) {
      session.hall.release(nick);
    }
    nick = wanted;
    if (session.registered()) {
      Membership.tellAll(session, session.fromHere("NICK " + wanted));
      session.call(wanted);
    } else {
      comeIn();
    }
  }

  private void user(Line line) {
    if (session.registered()) {
      session.reply("462", ":You may not reregister");
    } else if (line.params() < 4 || line.param(0).isEmpty()) {
      Commands.needMore(session, "USER");
    } else {
      user = tidy(line.param(0));
      real = line.param(3);
      comeIn();
    }
  }

  private static String tidy(String user) {
    String start = user.substring(0, Math.min(user.length(), MAX_USER));
    return start.replaceAll("[^A-Za-z0-9._~-]", "_");
  }

  private void comeIn() {
    if (session.registered() || negotiating || nick.isEmpty() || user.isEmpty()) {
      return;
    }
    session.user = user;
    session.real = real;
    session.hall.countRegistered(1);
    session.call(nick);
    About.welcome(session);
  }
}
