package org.klatch.server;

/** Signals that an option cannot be in force on this machine or in this Java. */
public final class OptionRefused extends RuntimeException {
  private static final long serialVersionUID = 1;

  public OptionRefused(String message) {
    super(message);
  }
}
