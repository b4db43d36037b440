package org.klatch.web;

import java.util.logging.Level;
import java.util.logging.LogManager;

/** The log of servers of other projects: that of the JDK, on standard error. */
public final class Logging {
  private Logging() {}

  /** Logs warnings and errors only: the ready line announces the start. */
  public static void warningsOnly() {
    LogManager.getLogManager().getLogger("").setLevel(Level.WARNING);
  }
}
