package org.klatch.exchange.web;

/** What an HTTP server serves. Its methods may be called from any thread. */
public interface Responder {
  /** Serves a request. Each request gets one reply, also one that is refused. */
  Reply reply(Request request);

  /** Whether {@link #reply} may wait for input or output, so that no event loop may call it. */
  default boolean blocks() {
    return false;
  }
}
