package org.klatch.shop;

import org.klatch.exchange.web.Reply;
import org.klatch.exchange.web.Request;
import org.klatch.exchange.web.Responder;

/** An application whose threads wait for the database. */
public interface BlockingSite extends Responder, AutoCloseable {
  /** Serves a request, or refuses it. */
  Reply serve(Request request) throws RefusedException;

  @Override
  default Reply reply(Request request) {
    try {
      return serve(request);
    } catch (RefusedException refused) {
      return Replies.refused(refused);
    }
  }

  @Override
  default boolean blocks() {
    return true;
  }

  /** Closes the connections to the database. */
  @Override
  void close();
}
