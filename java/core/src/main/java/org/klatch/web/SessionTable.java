package org.klatch.web;

import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import org.klatch.exchange.SplitMix;
import org.klatch.exchange.web.Reply;
import org.klatch.exchange.web.Request;
import org.klatch.exchange.web.Responder;

/**
 * Keeps the state of each session behind one lock, so that every request takes it: a place where
 * threads meet. The application behind it does not use the state.
 */
public final class SessionTable implements Responder {
  private final Responder application;
  private final HotLock lock;
  private final int numbers;
  private final Map<String, long[]> states = new HashMap<>(); // guarded by the lock

  /**
   * Puts a table of sessions before an application.
   *
   * @param stateBytes bytes of the state of one session, all of which a request changes
   */
  public SessionTable(Responder application, HotLock.Waiting waiting, int stateBytes) {
    this.application = application;
    lock = new HotLock(waiting);
    numbers = Math.max(1, stateBytes / Long.BYTES);
  }

  @Override
  public Reply reply(Request request) {
    change(request);
    return application.reply(request);
  }

  /** Changes the state of the session of a request. */
  private void change(Request request) {
    String session = request.cookie() == null ? "" : request.cookie();
    long text = request.path().getBytes(StandardCharsets.UTF_8).length;
    lock.acquire();
    try {
      long[] state = states.computeIfAbsent(session, unused -> new long[numbers]);
      // Each number depends on the one before, so that the work is not shortened.
      long last = text;
      for (int i = 0; i < state.length; i++) {
        last = SplitMix.output(last ^ state[i], i);
        state[i] = last;
      }
    } finally {
      lock.release();
    }
  }

  @Override
  public boolean blocks() {
    return application.blocks();
  }
}
