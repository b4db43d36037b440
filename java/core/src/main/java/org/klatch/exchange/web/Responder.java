package org.klatch.exchange.web;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** What an HTTP server serves. Its methods may be called from any thread. */
public interface Responder {
  /** Serves a request. Each request gets one reply, also one that is refused. */
  Reply reply(Request request);

  /**
   * Serves a request whose reply may be made later. A server on event loops calls this instead of
   * {@link #reply}. The result is never a failure.
   */
  default CompletionStage<Reply> replyAsync(Request request) {
    return CompletableFuture.completedStage(reply(request));
  }

  /**
   * Whether {@link #replyAsync} may wait for input or output, so that no event loop may call it.
   */
  default boolean blocks() {
    return false;
  }
}
