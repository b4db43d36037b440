package org.klatch.crowd;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.StringJoiner;
import java.util.StringTokenizer;
import org.klatch.chat.Line;

/**
 * Registration and join of a user, and all later lines other than room messages: PING, errors,
 * strangers. Belongs to the receiver thread.
 */
final class Handshake {
  private final User user;
  private final UserId id;
  private final Sender sender;
  private boolean joined;

  Handshake(User user, Sender sender) {
    this.user = user;
    this.sender = sender;
    id = user.id;
  }

  void begin() throws IOException {
    sender.writeNow("NICK " + id.nick + "\r\nUSER " + id.nick + " 0 * :klatch\r\n");
  }

  /** Handles a line that is not a message to the room. */
  void handle(Line line) throws IOException {
    String command = line.command();
    switch (command) {
      case "PING" -> pong(line.param(0));
      case "001" -> sender.writeNow("JOIN " + id.channel + "\r\n");
      case "353" -> names(line.param(3));
      case "366" -> endOfNames();
      case "JOIN" -> addIfStranger(speakerOf(line));
      case "ERROR" -> fail(Failure.Kind.DISCONNECT, "ERROR " + line.param(0));
      case "422" -> {} // a missing message of the day is not an error
      default -> other(command, line);
    }
  }

  private void other(String command, Line line) {
    // The request to wait while a server looks up a new client, which it calls `*`.
    boolean waits = command.equals("439") && line.param(0).equals("*");
    boolean refuses = command.startsWith("4") || command.startsWith("5");
    if (command.length() == 3 && refuses && !waits) {
      fail(Failure.Kind.REFUSED, command + " " + rest(line));
    } else if (!command.chars().allMatch(Character::isLetterOrDigit)) {
      fail(Failure.Kind.REFUSED, text(line)); // such as HTTP/1.1: it is no server of IRC
    }
  }

  /** The whole line. */
  private static String text(Line line) {
    StringJoiner text = new StringJoiner(" ");
    text.add(line.command());
    for (int i = 0; i < line.params(); i++) {
      text.add(line.param(i));
    }
    return text.toString();
  }

  /** Returns the nick in a line's prefix. */
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

  /** Describes that the server has closed the connection. */
  String closedEarly() {
    return joined
        ? "the server closed the connection"
        : "the server closed the connection without an answer to the first request:"
            + " it may speak another protocol";
  }

  private void pong(String token) throws IOException {
    String pong = "PONG :" + token + "\r\n";
    if (joined) {
      sender.enqueue(pong.getBytes(StandardCharsets.ISO_8859_1));
    } else {
      sender.writeNow(pong); // the sender has not started
    }
  }

  private void endOfNames() {
    if (!joined) {
      joined = true;
      user.joined();
    }
  }

  /** Joins the parameters after the user's own nick. */
  private static String rest(Line line) {
    StringJoiner rest = new StringJoiner(" ");
    for (int i = 1; i < line.params(); i++) {
      rest.add(line.param(i));
    }
    return rest.toString();
  }

  private void names(String names) {
    for (StringTokenizer nicks = new StringTokenizer(names); nicks.hasMoreTokens(); ) {
      addIfStranger(nicks.nextToken().replaceFirst("^[~&@%+]+", "")); // without mode prefixes
    }
  }

  private void addIfStranger(String nick) {
    byte[] bytes = nick.getBytes(StandardCharsets.ISO_8859_1);
    if (bytes.length > 0 && id.userOf(bytes, 0, bytes.length) < 0) {
      user.strangers.add(nick, 0);
    }
  }

  private void fail(Failure.Kind afterJoin, String line) {
    user.failed(joined ? afterJoin : Failure.Kind.JOIN, "the server answered: " + line);
  }
}
