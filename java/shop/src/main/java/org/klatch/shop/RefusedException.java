package org.klatch.shop;

import org.klatch.exchange.web.Status;

/** A request that is refused, with a status and a text that says why. */
public final class RefusedException extends Exception {
  private static final long serialVersionUID = 1L;

  private final Status status;

  /**
   * Refuses a request.
   *
   * @param text what is refused and why, without quotation marks
   */
  public RefusedException(Status status, String text) {
    super(text, null, false, false);
    this.status = status;
  }

  /** The status of the reply. */
  public Status status() {
    return status;
  }
}
