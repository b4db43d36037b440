package org.klatch.crowd;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.StringJoiner;
import java.util.StringTokenizer;
import org.klatch.chat.Line;

/**
 * All that is no delivery: coming in, PINGs, strangers, and what goes wrong. Belongs to the
 * receiver.
 */
final class Greeting {
  private final User user;
  private final Seat seat;
  private final Sender sender;
  private boolean joined;

  Greeting(User user, Sender sender) {
    this.user = user;
    this.sender = sender;
    seat = user.seat;
  }

  void begin() throws IOException {
    sender.writeNow("NICK " + seat.nick + "\r\nUSER " + seat.nick + " 0 * :klatch\r\n");
  }

  /** Takes a line that is no message to the room. */
  void take(Line line) throws IOException {
    String command = line.command();
    switch (command) {
      case "PING" -> pong(line.param(0));
      case "001" -> sender.writeNow("JOIN " + seat.channel + "\r\n");
      case "353" -> names(line.param(3));
      case "366" -> endOfNames();
      case "JOIN" -> seen(speakerOf(line));
      case "ERROR" -> refused(Failure.Kind.DISCONNECT, "ERROR " + line.param(0));
      case "422" -> {} // no message of the day is no refusal
      default -> {
        if (command.length() == 3 && (command.startsWith("4") || command.startsWith("5"))) {
          refused(Failure.Kind.REFUSED, command + " " + rest(line));
        }
      }
    }
  }

  /** The nick in a line's prefix. */
  String speakerOf(Line line) {
    String prefix =
        new String(
            line.bytes(),
            line.prefixStart(),
            line.prefixEnd() - line.prefixStart(),
            StandardCharsets.ISO_8859_1);
    int end = prefix.indexOf('!');
    return end < 0 ? prefix : prefix.substring(0, end);
  }

  private void pong(String token) throws IOException {
    String answer = "PONG :" + token + "\r\n";
    if (joined) {
      sender.answer(answer.getBytes(StandardCharsets.ISO_8859_1));
    } else {
      sender.writeNow(answer); // the sender has not started
    }
  }

  private void endOfNames() {
    if (!joined) {
      joined = true;
      user.joined();
    }
  }

  /** The parameters behind the own nick. */
  private static String rest(Line line) {
    StringJoiner rest = new StringJoiner(" ");
    for (int i = 1; i < line.params(); i++) {
      rest.add(line.param(i));
    }
    return rest.toString();
  }

  private void names(String names) {
    for (StringTokenizer each = new StringTokenizer(names); each.hasMoreTokens(); ) {
      seen(each.nextToken().replaceFirst("^[~&@%+]+", "")); // without the marks of rank
    }
  }

  private void seen(String nick) {
    byte[] bytes = nick.getBytes(StandardCharsets.ISO_8859_1);
    if (bytes.length > 0 && seat.userOf(bytes, 0, bytes.length) < 0) {
      user.strangers.met(nick, 0);
    }
  }

  private void refused(Failure.Kind afterJoin, String said) {
    user.failed(joined ? afterJoin : Failure.Kind.JOIN, "the server said: " + said);
  }
}
