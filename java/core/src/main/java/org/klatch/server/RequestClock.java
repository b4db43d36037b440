package org.klatch.server;

import org.klatch.service.ConnectionHandler;

/**
 * The time that a client takes for one request. It runs only while a request is incomplete, so a
 * request that arrives in one piece costs no look at the clock.
 */
final class RequestClock {
  private final AdmissionControl admission;
  private final AdmissionControl.Connection connection;
  private long running; // number of the incomplete request, or 0

  /** Creates a clock that stands. {@code connection} expires when a request takes too long. */
  RequestClock(AdmissionControl admission, AdmissionControl.Connection connection) {
    this.admission = admission;
    this.connection = connection;
  }

  /** Follows the handler after each input. Called by the thread that feeds it. */
  void follow(ConnectionHandler handler) {
    long incomplete = handler.incompleteRequest();
    if (incomplete != running) {
      running = incomplete;
      if (incomplete == 0) {
        admission.release(connection);
      } else {
        admission.restart(connection);
      }
    }
  }

  /** Whether a request is incomplete. */
  boolean isRunning() {
    return running != 0;
  }
}
