package org.klatch.crowd;

import java.io.IOException;
import java.io.InputStream;
import java.lang.invoke.VarHandle;
import java.nio.charset.StandardCharsets;
import org.klatch.chat.Framer;
import org.klatch.chat.Line;
import org.klatch.chat.Text;

/** The thread that connects and joins a user, and then reads and verifies its deliveries. */
final class Receiver {
  private static final int BUFFER_BYTES = 16 * 1024;
  private static final byte[] PRIVMSG = "PRIVMSG".getBytes(StandardCharsets.US_ASCII);

  private final User user;
  private final UserId id;
  private final Options options;
  private final Sender sender;
  private final Pace pace;
  private final Framer framer = new Framer(BUFFER_BYTES);
  private final Line line = new Line();
  private final Text text = new Text();
  private final Handshake handshake;
  private long received;
  private long nowNs; // when the current bytes were read, ns since the crowd's start

  Receiver(User user, Sender sender, Pace pace) {
    this.user = user;
    this.sender = sender;
    this.pace = pace;
    id = user.id;
    options = user.options;
    handshake = new Handshake(user, sender);
  }

  void run() throws IOException {
    try {
      user.connect();
    } catch (IOException e) {
      Failure.Kind kind = user.progress.anyConnected() ? Failure.Kind.JOIN : Failure.Kind.CONNECT;
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
    InputStream in = user.openTransport();
    handshake.begin();
    while (true) {
      int at = framer.fillAt();
      int count = in.read(framer.buffer(), at, framer.buffer().length - at);
      if (count < 0) {
        user.failed(Failure.Kind.DISCONNECT, handshake.closedEarly());
        return;
      }
      nowNs = user.gate.nowNs();
      framer.filled(count);
      handleLines();
      VarHandle.fullFence(); // publishes `received` before the look at the gate
      user.countsChanged();
    }
  }

  private void handleLines() throws IOException {
    Framer.Event event;
    while ((event = framer.next()) != Framer.Event.NONE) {
      if (event == Framer.Event.LINE) {
        handleLine();
      } else if (event == Framer.Event.NUL) {
        user.failed(Failure.Kind.DISCONNECT, "the server sent a NUL; nothing after it is read");
      }
      if (options.yield()) {
        Thread.yield();
      }
    }
  }

  private void handleLine() throws IOException {
    byte[] bytes = framer.buffer();
    if (!line.parse(bytes, framer.start(), framer.end())) {
      return;
    }
    if (line.is(PRIVMSG) && line.params() == 2) {
      handleMessage(bytes);
    } else {
      handshake.handle(line);
    }
  }

  private void handleMessage(byte[] bytes) {
    int speaker = id.userOf(bytes, line.prefixStart(), line.prefixEnd());
    if (!id.isChannel(bytes, line.paramStart(0), line.paramEnd(0))) {
      if (speaker >= 0) {
        user.account.corrupted(speaker, "delivered to " + line.param(0));
      }
    } else if (speaker < 0) {
      user.strangers.add(handshake.speakerOf(line), 1);
    } else if (isIntact(bytes, speaker)) {
      handleDelivery(speaker, (int) text.sequence());
    } else {
      String content = line.param(1);
      user.account.corrupted(
          speaker, "got: " + content.substring(0, Math.min(80, content.length())));
    }
  }

  private boolean isIntact(byte[] bytes, int speaker) {
    int start = line.paramStart(1);
    int end = line.paramEnd(1);
    return end - start == options.size()
        && text.read(bytes, start, end, id.room)
        && text.user() == speaker
        && text.sequence() < options.count();
  }

  private void handleDelivery(int speaker, int sequence) {
    if (!user.account.record(speaker, sequence)) {
      return;
    }
    user.latency.record(nowNs - text.timeNs());
    user.timeline.record(nowNs - user.gate.openedNs(), nowNs - text.timeNs());
    if (user.stageCounts != null) {
      long openedNs = user.gate.openedNs();
      user.stageCounts.recordDelivery(nowNs - openedNs, text.timeNs() - openedNs);
    }
    user.lastDeliveryNs.lazySet(nowNs);
    received++;
    user.received.lazySet(received);
    pace.onDelivery(speaker);
    sender.allow(pace.allowed());
    if (received == user.expected) {
      user.progress.done();
    }
  }
}
