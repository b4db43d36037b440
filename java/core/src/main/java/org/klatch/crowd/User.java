package org.klatch.crowd;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/** One simulated user: its connection, its receiver thread and its sender thread. */
final class User {
  final Seat seat;
  final Options options;
  final Gate gate;
  final Roll roll;
  final Account account;
  final Histogram latency = new Histogram();
  final Histogram lag = new Histogram();
  final Timeline timeline;
  final Strangers strangers;

  /** Messages said. Written by the sender only. */
  final AtomicInteger said = new AtomicInteger();

  /** Deliveries verified. Written by the receiver only. */
  final AtomicLong received = new AtomicLong();

  /**
   * When the last verified delivery came, ns since the crowd's start. Written by the receiver only.
   */
  final AtomicLong lastDeliveryNs = new AtomicLong();

  private final Socket socket = new Socket();
  private final Sender sender;
  private final Thread receiverThread;
  private final Thread senderThread;
  private volatile boolean leaving;

  User(Seat seat, Options options, Gate gate, Roll roll, Timeline timeline) {
    this.seat = seat;
    this.options = options;
    this.gate = gate;
    this.roll = roll;
    this.timeline = timeline;
    account = new Account(seat.room, seat.user, seat.users);
    strangers = new Strangers(seat.room);
    Pace pace = options.pacing().paceOf(seat.user, options);
    sender = new Sender(this, pace.allowed());
    Receiver receiver = new Receiver(this, sender, pace);
    receiverThread = new Thread(() -> receive(receiver), "receiver " + seat.nick);
    senderThread = new Thread(() -> send(sender), "sender " + seat.nick);
    sender.runsIn(senderThread);
  }

  /** Starts to connect and join; {@link Roll} tells how it goes. */
  void start() {
    startThread(receiverThread);
  }

  /** Connects; called by the receiver. */
  void connect() throws IOException {
    socket.setTcpNoDelay(true);
    var address = new InetSocketAddress(options.host(), options.port());
    if (address.isUnresolved()) {
      throw new IOException("unknown host " + options.host());
    }
    socket.connect(address, options.connectTimeoutMs());
    roll.connected();
    sender.writeTo(socket.getOutputStream());
  }

  Socket socket() {
    return socket;
  }

  /** Enters that it has joined, and lets the sender begin. */
  void joined() {
    if (startThread(senderThread)) {
      roll.joined();
    }
  }

  /** Wakes the sender if there may be something to say; the gate has been opened. */
  void gateOpened() {
    sender.wakeIfAllowed();
  }

  /** Says QUIT; the server closes the connection after it. */
  void leave() {
    leaving = true;
    sender.leave();
  }

  /**
   * Waits for both threads to end, until {@code deadlineNs} (of {@link System#nanoTime}) at most.
   */
  void awaitEnd(long deadlineNs) throws InterruptedException {
    for (Thread thread : new Thread[] {receiverThread, senderThread}) {
      thread.join(Math.max(1, (deadlineNs - System.nanoTime()) / 1_000_000));
    }
  }

  /** Closes the connection, which ends both threads. */
  void close() throws InterruptedException {
    leaving = true;
    sender.leave();
    try {
      socket.close();
    } catch (IOException e) {
      // there is nothing to be done about it
    }
    receiverThread.join();
    senderThread.join();
  }

  void failed(Failure.Kind kind, String detail) {
    if (!leaving) {
      roll.failed(new Failure(kind, seat.room, seat.user, detail));
    }
  }

  private boolean startThread(Thread thread) {
    try {
      thread.start();
      return true;
    } catch (OutOfMemoryError noThread) {
      failed(Failure.Kind.JOIN, "cannot start a thread: " + noThread.getMessage());
      return false;
    }
  }

  private void receive(Receiver receiver) {
    try (socket) {
      receiver.run();
    } catch (IOException e) {
      broke(e);
    }
  }

  private void send(Sender sender) {
    try {
      sender.run();
    } catch (IOException e) {
      broke(e);
    }
  }

  private void broke(IOException e) {
    failed(Failure.Kind.DISCONNECT, "the connection broke: " + e.getMessage());
  }
}
