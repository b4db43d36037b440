package org.klatch.crowd;

import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import javax.net.ssl.SSLSession;
import javax.net.ssl.SSLSocket;
import org.klatch.websocket.Subprotocol;

/** A simulated user with a connection, a receiver thread and a sender thread. */
final class User {
  final UserId id;
  final Options options;

  /** Messages that the user sends. */
  final int count;

  /** Deliveries that it receives: the messages of the other users of its room. */
  final long expected;

  final Gate gate;
  final Progress progress;
  final Account account;
  final Histogram latency = new Histogram();
  final Histogram lag = new Histogram();
  final Timeline timeline;

  /** Counts by stage; null without stages. */
  final StageCounts stageCounts;

  final Strangers strangers;

  /** Messages sent, and one that is being written. Written by the sender only. */
  final AtomicInteger sent = new AtomicInteger();

  /** Deliveries verified. Written by the receiver only. */
  final AtomicLong received = new AtomicLong();

  /**
   * Time of the last verified delivery, ns since the crowd's start. Written by the receiver only.
   */
  final AtomicLong lastDeliveryNs = new AtomicLong();

  private final Addresses addresses;
  private final Sender sender;
  private final Thread receiverThread;
  private final Thread senderThread;
  private volatile boolean leaving;
  private Socket socket = new Socket(); // of the last attempt to connect; guarded by this
  private boolean closed; // guarded by this
  private boolean hasJoined; // used by the receiver only
  private TlsSession tlsSession; // as hasJoined; read when the thread has ended

  User(
      UserId id,
      Options options,
      int count,
      long expected,
      Addresses addresses,
      Gate gate,
      Progress progress,
      Timeline timeline) {
    this.id = id;
    this.addresses = addresses;
    this.options = options;
    this.count = count;
    this.expected = expected;
    this.gate = gate;
    this.progress = progress;
    this.timeline = timeline;
    stageCounts = options.stages() == null ? null : new StageCounts(options.stages());
    account = new Account(id.room, id.user, id.users);
    strangers = new Strangers(id.room);
    Pace pace = options.pacing().paceFor(id.user, count, options);
    sender = new Sender(this, pace.allowed());
    Receiver receiver = new Receiver(this, sender, pace);
    receiverThread = new Thread(() -> receive(receiver), "receiver " + id.nick);
    senderThread = new Thread(() -> send(sender), "sender " + id.nick);
    sender.runsIn(senderThread);
  }

  /** Starts to connect and join; {@link Progress} records the outcome. */
  void start() {
    startThread(receiverThread);
  }

  /** Connects to the server. Called by the receiver. */
  void connect() throws IOException {
    addresses.connect(this::newSocket, options.connectTimeoutMs());
    progress.connected();
  }

  private synchronized Socket newSocket() throws IOException {
    if (closed) {
      throw new IOException("the crowd has ended");
    }
    socket = new Socket();
    socket.setTcpNoDelay(true);
    return socket;
  }

  private synchronized Socket socket() {
    return socket;
  }

  /**
   * Opens the transport on the connection. Called by the receiver.
   *
   * @return the lines that the server sends
   */
  InputStream openTransport() throws IOException {
    Transport transport = options.transport();
    Socket carrier = transport.secure(socket(), options.host(), options.port());
    if (carrier instanceof SSLSocket secured) {
      SSLSession session = secured.getSession();
      tlsSession = new TlsSession(session.getProtocol(), session.getCipherSuite());
    }
    if (!transport.webSocket()) {
      sender.writeTo(carrier.getOutputStream());
      return carrier.getInputStream();
    }
    Subprotocol subprotocol = transport.subprotocol();
    var out = new WebSocketOutput(carrier.getOutputStream(), subprotocol != Subprotocol.BINARY);
    sender.writeTo(out);
    var in = new WebSocketInput(carrier.getInputStream(), subprotocol, out, this::answerPing);
    in.open(options.host(), options.port(), transport.path());
    return in;
  }

  /** Makes the answer to a ping go out, which waits in the output. Called by the receiver. */
  private void answerPing() throws IOException {
    if (hasJoined) {
      sender.enqueue(new byte[0]);
    } else {
      sender.writeNow(""); // the sender has not started
    }
  }

  /** Returns what TLS agreed to; null without TLS. Called when the threads have ended. */
  TlsSession tlsSession() {
    return tlsSession;
  }

  /** Records the join and starts the sender. */
  void joined() {
    hasJoined = true;
    if (expected == 0) {
      progress.done();
    }
    if (startThread(senderThread)) {
      progress.joined();
    }
  }

  /** Wakes the sender, after the gate has opened, if it waits for that. */
  void gateOpened() {
    sender.wakeIfHeld();
  }

  /** Wakes the crowd's thread during a pause, because the counts have changed. */
  void countsChanged() {
    if (gate.isPausing()) {
      progress.changed();
    }
  }

  /** Sends QUIT, after which the server closes the connection. */
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
      closeSocket();
    } catch (IOException e) {
      // the connection is unusable either way
    }
    receiverThread.join();
    senderThread.join();
  }

  void failed(Failure.Kind kind, String detail) {
    if (!leaving) {
      progress.failed(new Failure(kind, id.room, id.user, detail));
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
    try {
      receiveAndReport(receiver);
    } finally {
      try {
        closeSocket();
      } catch (IOException e) {
        disconnected(e);
      }
    }
  }

  /** Closes the connection, also one that is being made, for good. */
  private synchronized void closeSocket() throws IOException {
    closed = true;
    socket.close();
  }

  /** Reports a failure before the socket is closed: then the sender fails too, with less to say. */
  private void receiveAndReport(Receiver receiver) {
    try {
      receiver.run();
    } catch (TransportException e) {
      failed(hasJoined ? Failure.Kind.DISCONNECT : Failure.Kind.JOIN, e.getMessage());
    } catch (IOException e) {
      disconnected(e);
    }
  }

  private void send(Sender sender) {
    try {
      sender.run();
    } catch (IOException e) {
      disconnected(e);
    }
  }

  private void disconnected(IOException e) {
    failed(Failure.Kind.DISCONNECT, "the connection broke: " + e.getMessage());
  }
}
