package org.klatch.chat;

import java.util.Map;

/**
 * MODE: every room is {@code +n}, every user {@code +i}, and neither can change. Runs under the
 * state's lock.
 */
final class Modes {
  /** Channel modes of other servers. Changing any of them would need an operator. */
  private static final String OPERATOR_MODES = "beIiklmnopqstv";

  private Modes() {}

  static void addTo(Map<String, Commands.Command> commands) {
    commands.put("MODE", Modes::mode);
  }

  static void notOperator(Session session, Room room) {
    session.reply("482", room.name + " :You're not channel operator");
  }

  private static void mode(Session session, Line line) {
    String target = line.param(0);
    if (target.isEmpty()) {
      Commands.replyNeedMoreParams(session, "MODE");
    } else if (target.startsWith("#")) {
      Room room = Membership.existingRoom(session, target);
      if (room != null) {
        roomMode(session, room, line);
      }
    } else {
      Session user = UserQueries.find(session, target);
      if (user == session) {
        ownMode(session, line.param(1));
      } else if (user != null) {
        session.reply("502", ":Cannot change mode for other users");
      }
    }
  }

  private static void roomMode(Session session, Room room, Line line) {
    String modes = letters(line.param(1));
    if (modes.isEmpty()) {
      session.reply("324", room.name + " +n");
    } else if (modes.equals("b") && line.params() == 2) {
      session.reply("368", room.name + " :End of channel ban list");
    } else if (Membership.isIn(session, room)) {
      for (int i = 0; i < modes.length(); i++) {
        if (OPERATOR_MODES.indexOf(modes.charAt(i)) < 0) {
          session.reply("472", modes.charAt(i) + " :is unknown mode char to me");
          return;
        }
      }
      notOperator(session, room);
    }
  }

  private static void ownMode(Session session, String modes) {
    if (modes.isEmpty()) {
      session.reply("221", "+i");
    } else if (!letters(modes).equals("i") || modes.startsWith("-")) {
      session.reply("501", ":Unknown MODE flag");
    }
  }

  private static String letters(String modes) {
    return modes.replaceAll("[+-]", "");
  }
}
