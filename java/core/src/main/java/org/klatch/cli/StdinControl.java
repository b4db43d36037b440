package org.klatch.cli;

import java.io.BufferedReader;
import java.io.IOException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.klatch.crowd.Control;
import org.klatch.crowd.Crowd;
import org.klatch.crowd.Histogram;

/**
 * Controls a crowd by the commands of a parent, if it has one, and stops it on SIGINT and SIGTERM.
 */
final class StdinControl implements Control {
  private static final String END = "the end of standard input";
  private static final long GRACE_S = 5;

  private final Printer printer;
  private final BufferedReader commands; // null if no parent sends any
  private final LinkedBlockingQueue<String> lines = new LinkedBlockingQueue<>();
  private boolean going; // has read `go`. Belongs to the reading thread
  private final CountDownLatch ended = new CountDownLatch(1);

  /**
   * Creates it.
   *
   * @param commands the lines of a parent; null without one
   */
  StdinControl(Printer printer, BufferedReader commands) {
    this.printer = printer;
    this.commands = commands;
  }

  /** Starts to read standard input and to handle signals. */
  void start(Crowd crowd) {
    Runtime.getRuntime().addShutdownHook(new Thread(() -> interrupted(crowd), "signal"));
    if (commands != null) {
      Thread reader = new Thread(() -> read(crowd), "standard input");
      reader.setDaemon(true);
      reader.start();
    }
  }

  /** Records that the result is printed. */
  void end() {
    ended.countDown();
  }

  @Override
  public void joining(int joined, int users) {
    printer.joining(joined, users);
  }

  @Override
  public void joined(double joinS) {
    printer.joined(joinS);
  }

  @Override
  public String awaitGo() throws InterruptedException {
    return await("go");
  }

  @Override
  public void progress(long sent, long received, long expected, Histogram latencyNs) {
    printer.progress(sent, received, expected, latencyNs);
  }

  @Override
  public void paused(long sent, long received, long activeNs, Histogram latencyNs) {
    printer.paused(sent, received, activeNs, latencyNs);
  }

  @Override
  public void done() {
    printer.done();
  }

  @Override
  public String awaitQuit() throws InterruptedException {
    return await("quit");
  }

  private String await(String command) throws InterruptedException {
    String line = commands != null ? lines.take() : command;
    return line.equals(command) ? null : "stopped: got " + line + " instead of `" + command + "`";
  }

  private void read(Crowd crowd) {
    try {
      String line;
      while ((line = commands.readLine()) != null) {
        obey(crowd, line.strip());
      }
    } catch (IOException e) {
      // treated as the end of the input
    }
    if (!lines.contains("quit")) {
      crowd.stop("stopped: got " + END);
    }
    lines.add(END);
  }

  private void obey(Crowd crowd, String line) {
    going |= line.equals("go");
    switch (going ? line : "") {
      case "pause" -> crowd.pause();
      case "resume" -> crowd.resume();
      case "finish" -> crowd.finish();
      default -> lines.add(line); // the crowd's thread waits for it, or finds it wrong
    }
  }

  /** The shutdown hook: runs at the normal end of the program or after a signal. */
  private void interrupted(Crowd crowd) {
    if (ended.getCount() > 0) {
      crowd.stop("stopped by a signal");
      lines.add("a signal");
      try {
        if (ended.await(GRACE_S, TimeUnit.SECONDS)) {
          Runtime.getRuntime().halt(1);
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
