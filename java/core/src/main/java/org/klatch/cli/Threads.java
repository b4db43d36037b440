package org.klatch.cli;

import org.klatch.server.VirtualThreads;
import org.klatch.web.ThreadKind;

/** The option {@code threads}: platform or virtual ones. */
final class Threads {
  private Threads() {}

  /** Reads the option. */
  static ThreadKind read(Arguments arguments, String description) throws StartupException {
    String name = arguments.text("threads", "platform|virtual", "platform", description);
    return switch (name) {
      case "platform" -> ThreadKind.PLATFORM;
      case "virtual" -> ThreadKind.VIRTUAL;
      default ->
          throw new StartupException.Usage("threads must be platform or virtual, got " + name);
    };
  }

  /** Fails if this Java has no threads of that kind. */
  static void check(ThreadKind kind) throws StartupException {
    int java = Runtime.version().feature();
    if (kind == ThreadKind.VIRTUAL && java < VirtualThreads.JAVA_MIN) {
      throw new StartupException(
          "virtual threads need Java "
              + VirtualThreads.JAVA_MIN
              + " or newer; this is Java "
              + java);
    }
  }
}
