package org.klatch.crowd;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import org.klatch.chat.Framer;
import org.klatch.chat.Line;
import org.klatch.chat.Text;

/** The thread that brings a user in, and then reads and verifies what it is told. */
final class Receiver {
  private static final int BUFFER_BYTES = 16 * 1024;
  private static final byte[] PRIVMSG = "PRIVMSG".getBytes(StandardCharsets.US_ASCII);

  private final User user;
  private final Seat seat;
  private final Options options;
  private final Sender sender;
  private final Pace pace;
  private final Framer framer = new Framer(BUFFER_BYTES);
  private final Line line = new Line();
  private final Text text = new Text();
  private final Greeting greeting;
  private final long expected;
  private long received;
  private long nowNs; // when the bytes at hand came

  Receiver(User user, Sender sender, Pace pace) {
    this.user = user;
    this.sender = sender;
    this.pace = pace;
    seat = user.seat;
    options = user.options;
    greeting = new Greeting(user, sender);
    expected = (options.users() - 1L) * options.count();
  }

  void run() throws IOException {
    try {
      user.connect();
    } catch (IOException e) {
      Failure.Kind kind = user.roll.anyConnected() ? Failure.Kind.JOIN : Failure.Kind.CONNECT;
      user.failed(
          kind,
          "cannot connect to "
              + options.host()
              + " port "
              + options.port()
              + ": "
              + e.getMessage());
      return;
    }
    greeting.begin();
    InputStream in = user.socket().getInputStream();
    while (true) {
      int at = framer.fillAt();
      int count = in.read(framer.buffer(), at, framer.buffer().length - at);
      if (count < 0) {
        user.failed(Failure.Kind.DISCONNECT, "the server closed the connection");
        return;
      }
      nowNs = user.gate.nowNs();
      framer.filled(count);
      takeLines();
    }
  }

  private void takeLines() throws IOException {
    Framer.Event event;
    while ((event = framer.next()) != Framer.Event.NONE) {
      if (event == Framer.Event.LINE) {
        takeLine();
      } else if (event == Framer.Event.NUL) {
        user.failed(Failure.Kind.DISCONNECT, "the server sent a NUL, and nothing counts after it");
      }
      if (options.yield()) {
        Thread.yield();
      }
    }
  }

  private void takeLine() throws IOException {
    byte[] bytes = framer.buffer();
    if (!line.parse(bytes, framer.start(), framer.end())) {
      return;
    }
    if (line.is(PRIVMSG) && line.params() == 2) {
      takeMessage(bytes);
    } else {
      greeting.take(line);
    }
  }

  private void takeMessage(byte[] bytes) {
    int speaker = seat.userOf(bytes, line.prefixStart(), line.prefixEnd());
    if (!seat.isChannel(bytes, line.paramStart(0), line.paramEnd(0))) {
      if (speaker >= 0) {
        user.account.altered(speaker, "delivered to " + line.param(0));
      }
    } else if (speaker < 0) {
      user.strangers.met(greeting.speakerOf(line), 1);
    } else if (isSound(bytes, speaker)) {
      takeDelivery(speaker, (int) text.sequence());
    } else {
      String got = line.param(1);
      user.account.altered(speaker, "got: " + got.substring(0, Math.min(80, got.length())));
    }
  }

  private boolean isSound(byte[] bytes, int speaker) {
    int start = line.paramStart(1);
    int end = line.paramEnd(1);
    return end - start == options.size()
        && text.read(bytes, start, end, seat.room)
        && text.user() == speaker
        && text.sequence() < options.count();
  }

  private void takeDelivery(int speaker, int sequence) {
    if (!user.account.arrived(speaker, sequence)) {
      return;
    }
    user.latency.record(nowNs - text.timeNs());
    user.timeline.record(nowNs - user.gate.openedNs(), nowNs - text.timeNs());
    user.lastDeliveryNs.lazySet(nowNs);
    received++;
    user.received.lazySet(received);
    pace.heard(speaker);
    sender.allow(pace.allowed());
    if (received == expected) {
      user.roll.done();
    }
  }
}
