package org.klatch.chat;

import java.util.Locale;
import java.util.Map;

/** Registration of a connection: CAP, PASS, NICK, USER. Runs under the state's lock. */
final class Registration {
  static final int MAX_USER = 16;

  private final Session session;
  private String nick = ""; // reserved, also before registration
  private String user = "";
  private String real = "";
  private boolean negotiating; // between CAP LS or REQ and CAP END

  Registration(Session session) {
    this.session = session;
  }

  static void addTo(Map<String, Commands.Command> commands) {
    commands.put("CAP", (session, line) -> session.registration.cap(line));
    commands.put("PASS", (session, line) -> session.registration.pass(line));
    commands.put("NICK", (session, line) -> session.registration.nick(line));
    commands.put("USER", (session, line) -> session.registration.user(line));
  }

  /** Frees the nick for other sessions. */
  void release() {
    if (!nick.isEmpty()) {
      session.state.release(nick);
    }
  }

  private void cap(Line line) {
    String subcommand = line.param(0).toUpperCase(Locale.ROOT);
    switch (subcommand) {
      case "" -> Commands.replyNeedMoreParams(session, "CAP");
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
        registerWhenComplete();
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
      Commands.replyNeedMoreParams(session, "PASS");
    }
  }

  private void nick(Line line) {
    String newNick = line.param(0);
    if (newNick.isEmpty()) {
      session.reply("431", ":No nickname given");
    } else if (!Names.validNick(newNick)) {
      session.reply("432", newNick + " :Erroneous nickname");
    } else if (!session.state.claim(newNick, session)) {
      session.reply("433", newNick + " :Nickname is already in use");
    } else if (!newNick.equals(nick)) {
      changeNick(newNick);
    }
  }

  private void changeNick(String newNick) {
    if (!nick.isEmpty() && !Names.fold(nick).equals(Names.fold(newNick))) {
      session.state.release(nick);
    }
    nick = newNick;
    if (session.registered()) {
      Membership.sendToUserAndPeers(session, session.lineFromUser("NICK " + newNick));
      session.setNick(newNick);
    } else {
      registerWhenComplete();
    }
  }

  private void user(Line line) {
    if (session.registered()) {
      session.reply("462", ":You may not reregister");
    } else if (line.params() < 4 || line.param(0).isEmpty()) {
      Commands.replyNeedMoreParams(session, "USER");
    } else {
      user = sanitize(line.param(0));
      real = line.param(3);
      registerWhenComplete();
    }
  }

  private static String sanitize(String user) {
    String start = user.substring(0, Math.min(user.length(), MAX_USER));
    return start.replaceAll("[^A-Za-z0-9._~-]", "_");
  }

  private void registerWhenComplete() {
    if (session.registered() || negotiating || nick.isEmpty() || user.isEmpty()) {
      return;
    }
    session.user = user;
    session.real = real;
    session.state.countRegistered(1);
    session.setNick(nick);
    ServerInfo.welcome(session);
  }
}
