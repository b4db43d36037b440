package org.klatch.cli;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import javax.net.ssl.SSLContext;
import org.klatch.chat.Text;
import org.klatch.crowd.Control;
import org.klatch.crowd.Crowd;
import org.klatch.crowd.Options;
import org.klatch.crowd.Pacing;
import org.klatch.crowd.Stages;
import org.klatch.crowd.Transport;
import org.klatch.tls.SystemAuthorities;
import org.klatch.tls.TlsContexts;
import org.klatch.websocket.Subprotocol;

/** Workload {@code chat}: users in rooms of an IRC server. */
final class ChatWorkload implements CrowdWorkload {
  private static final int ROOM_MAX = 65_535;

  private Options options;

  @Override
  public void read(Arguments arguments) throws StartupException {
    Stages stages = stages(arguments);
    options =
        new Options(
            arguments.text("host", "HOST", "127.0.0.1", "the server's name or address"),
            (int) arguments.number("port", 1, 65_535, 6667, "the server's port"),
            (int) arguments.number("rooms", 1, ROOM_MAX, 10, "rooms"),
            (int) arguments.number("users", 2, 10_000, 20, "users in each room"),
            count(arguments),
            stages == null ? durationNs(arguments) : stages.timeNs(),
            (int) arguments.number("start", 1, ROOM_MAX, 1, "number of the first room"),
            (int)
                arguments.number(
                    "size", Text.MIN_SIZE, Text.MAX_SIZE, 60, "bytes of a message's text"),
            pacing(arguments.text("pacing", "PACING", "turns", "turns, rounds, flood or rate")),
            (int)
                arguments.number(
                    "window", 1, 100_000_000, 1, "rounds that a user may be ahead (pacing rounds)"),
            arguments.decimal(
                "rate", 0, 1e6, "0", "R", "messages a second of each user (pacing rate)"),
            stages,
            poisson(
                arguments.text("arrivals", "ARRIVALS", "even", "even or poisson (pacing rate)")),
            arguments.secondsNs("pause", 0, "0", "least seconds between two messages of a user"),
            arguments.secondsNs(
                "timeout", 0.1, "60", "seconds without progress before the crowd fails"),
            (int)
                (arguments.secondsNs(
                        "connect-timeout", 0.1, "10", "time-out of one connect, in seconds")
                    / 1_000_000),
            arguments.flag("yield", "yield after each packet received and each batch sent"),
            arguments.unsigned("seed", 1, "seed of the schedules (pacing rate)"),
            transport(arguments));
  }

  private static int count(Arguments arguments) throws StartupException {
    int count = (int) arguments.number("count", 1, Options.COUNT_MAX, 100, "messages of each user");
    boolean byTime = arguments.has("duration") || arguments.has("stages");
    return byTime ? Options.COUNT_MAX : count;
  }

  private static long durationNs(Arguments arguments) throws StartupException {
    long durationNs =
        arguments.secondsNs(
            "duration", 0, "0", "seconds for which users send, in place of a number of messages");
    if (arguments.has("duration") && arguments.has("count")) {
      throw new StartupException.Usage("-count belongs to a run without -duration");
    }
    if (arguments.has("duration") && durationNs == 0) {
      throw new StartupException.Usage("-duration must be above 0");
    }
    return durationNs;
  }

  private static Stages stages(Arguments arguments) throws StartupException {
    String text =
        arguments.text(
            "stages", "S:R,…", "", "seconds in which the rate ramps to a value (pacing rate)");
    if (text.isEmpty()) {
      return null;
    }
    for (String option : new String[] {"rate", "count", "duration"}) {
      if (arguments.has(option)) {
        throw new StartupException.Usage("-" + option + " cannot be combined with -stages");
      }
    }
    try {
      return Stages.parse(text);
    } catch (IllegalArgumentException e) {
      throw new StartupException.Usage("stages must be as in 60s:100,30s:0, got " + text);
    }
  }

  private static boolean poisson(String name) throws StartupException {
    if (!name.equals("even") && !name.equals("poisson")) {
      throw new StartupException.Usage("arrivals must be even or poisson, got " + name);
    }
    return name.equals("poisson");
  }

  private static Transport transport(Arguments arguments) throws StartupException {
    Transports kind = Transports.read(arguments);
    String name =
        arguments.text(
            "subprotocol",
            "NAME|none",
            Subprotocol.TEXT.wireName,
            "subprotocol to offer (transport ws), or binary.ircv3.net");
    Subprotocol subprotocol = Subprotocol.find(name);
    if (subprotocol == null && !name.equals("none")) {
      throw new StartupException.Usage(
          "subprotocol must be text.ircv3.net, binary.ircv3.net or none, got " + name);
    }
    String path = arguments.text("path", "PATH", "/", "path of the WebSocket (transport ws)");
    if (!path.matches("/[!-~]*")) {
      throw new StartupException.Usage("path must begin with / and have no spaces, got " + path);
    }
    String ca =
        arguments.text(
            "ca",
            "FILE",
            "",
            "authorities to trust [SSL_CERT_FILE, SSL_CERT_DIR, or the system's]");
    return new Transport(kind.webSocket, subprotocol, path, kind.tls ? clientContext(ca) : null);
  }

  private static SSLContext clientContext(String ca) throws StartupException {
    try {
      return TlsContexts.client(ca.isEmpty() ? SystemAuthorities.files() : List.of(Path.of(ca)));
    } catch (IOException e) {
      throw new StartupException(e.getMessage());
    }
  }

  @Override
  public void check(Arguments arguments) throws StartupException {
    if (options.start() + options.rooms() - 1 > ROOM_MAX) {
      throw new StartupException.Usage(
          "start + rooms - 1 must be at most " + ROOM_MAX + ", the highest room number");
    }
    boolean rate = options.pacing() == Pacing.RATE;
    if (rate != (options.rate() > 0 || options.stages() != null)) {
      String option = options.stages() == null ? "-rate" : "-stages";
      throw new StartupException.Usage(
          rate ? "pacing rate needs -rate, above 0, or -stages" : option + " needs -pacing rate");
    }
    if (options.poisson() && !rate) {
      throw new StartupException.Usage("-arrivals poisson needs -pacing rate");
    }
    if (rate && options.pauseNs() > 0) {
      throw new StartupException.Usage(
          "-pause must be 0 under -pacing rate: its schedule is fixed in advance");
    }
    for (String option : new String[] {"subprotocol", "path"}) {
      if (arguments.has(option) && !options.transport().webSocket()) {
        throw new StartupException.Usage("-" + option + " needs -transport ws or wss");
      }
    }
    if (arguments.has("ca") && options.transport().tls() == null) {
      throw new StartupException.Usage("-ca needs -transport tls or wss");
    }
    if (arguments.has("window") && options.pacing() != Pacing.ROUNDS) {
      throw new StartupException.Usage("-window needs -pacing rounds");
    }
  }

  @Override
  public Crowd newCrowd(Control control) {
    return new Crowd(options, control);
  }

  private static Pacing pacing(String name) throws StartupException {
    for (Pacing pacing : Pacing.values()) {
      if (pacing.name().toLowerCase(Locale.ROOT).equals(name)) {
        return pacing;
      }
    }
    throw new StartupException.Usage("pacing must be turns, rounds, flood or rate, got " + name);
  }
}
