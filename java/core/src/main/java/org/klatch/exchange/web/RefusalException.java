package org.klatch.exchange.web;

/** Signals a request that is refused. It has no stack trace, because no error of the server. */
final class RefusalException extends Exception {
  private static final long serialVersionUID = 1;

  private final Status status;

  RefusalException(Status status) {
    super(status.reason(), null, false, false);
    this.status = status;
  }

  Status status() {
    return status;
  }
}
