package org.klatch.adapters;

import java.io.Closeable;
import java.io.IOException;
import java.util.Collection;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.klatch.server.AdmissionControl;
import org.klatch.server.Options;
import org.klatch.server.Server;
import org.klatch.service.Service;
import org.klatch.web.StartedServer;
import org.klatch.websocket.Subprotocol;

/** What all connections of a server with a WebSocket of its own share. */
final class ChatSockets {
  /** Most bytes of a message. */
  static final int MAX_MESSAGE = 16 * 1024;

  private static final int ENDING_THREADS = 2;
  private static final long GRACE_S = 2;

  final Service lines;
  final Options options;
  final AdmissionControl admission;
  private final ScheduledExecutorService endings;

  /**
   * Creates the shared part of a server.
   *
   * @param lines handles the lines of the connections
   */
  ChatSockets(Service lines, Options options) {
    this.lines = lines;
    this.options = options;
    admission = new AdmissionControl(options);
    endings =
        new ScheduledThreadPoolExecutor(
            ENDING_THREADS,
            work -> {
              Thread thread = new Thread(work, "endings");
              thread.setDaemon(true);
              // Tomcat's loader would count as a leak.
              thread.setContextClassLoader(ChatSockets.class.getClassLoader());
              return thread;
            },
            new ThreadPoolExecutor.DiscardPolicy()); // for connections that end after the server
  }

  /** Returns the first name in a client's list that is supported; empty if there is none. */
  static String choose(Collection<String> offered) {
    return offered.stream().filter(name -> Subprotocol.find(name) != null).findFirst().orElse("");
  }

  static boolean isBinary(String subprotocol) {
    return Subprotocol.BINARY.wireName.equals(subprotocol);
  }

  /** Runs what may take locks, for a caller that has some. */
  void later(Runnable ending) {
    endings.execute(ending);
  }

  /** Runs {@code abort} after the time that a closing connection has for its last lines. */
  void afterGrace(Runnable abort) {
    var unused = endings.schedule(abort, GRACE_S, TimeUnit.SECONDS);
  }

  /** Wraps a server that listens; {@code stop} closes it. */
  Server started(int port, Closeable stop) {
    Thread timer = admission.startTimer();
    return new StartedServer(port, () -> stop(timer, stop));
  }

  private void stop(Thread timer, Closeable stop) throws IOException {
    timer.interrupt();
    stop.close();
    endings.shutdown();
  }
}
