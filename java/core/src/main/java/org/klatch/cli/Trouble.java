package org.klatch.cli;

/** Why a command could not run; its message is for the user. */
class Trouble extends Exception {
  private static final long serialVersionUID = 1;

  Trouble(String message) {
    super(message);
  }

  /** The command line itself is wrong. */
  static final class Usage extends Trouble {
    private static final long serialVersionUID = 1;

    Usage(String message) {
      super(message);
    }
  }
}
