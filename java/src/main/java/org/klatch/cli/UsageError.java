package org.klatch.cli;

/** Something that the user has to change; its message says what. */
final class UsageError extends Exception {
  private static final long serialVersionUID = 1;

  UsageError(String message) {
    super(message);
  }
}
