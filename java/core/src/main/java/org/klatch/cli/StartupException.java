package org.klatch.cli;

/** Signals that a command cannot run. The message is for the user. */
class StartupException extends Exception {
  private static final long serialVersionUID = 1;

  StartupException(String message) {
    super(message);
  }

  /** Signals an invalid command line; the user gets a hint to {@code --help}. */
  static final class Usage extends StartupException {
    private static final long serialVersionUID = 1;

    Usage(String message) {
      super(message);
    }
  }
}
