package org.klatch.shop;

import org.klatch.exchange.web.Reply;
import org.klatch.exchange.web.Status;

/** The replies that applications have in common, in JSON. */
public final class Replies {
  private Replies() {}

  /** The reply of a request that was served. */
  public static Reply ok(Json json) {
    return ok(json, null);
  }

  /**
   * The reply of a request that was served.
   *
   * @param cookie the cookie that it sets; null without one
   */
  public static Reply ok(Json json, String cookie) {
    return Reply.json(Status.OK, json.toString(), cookie);
  }

  /** The reply of a request that was refused. */
  public static Reply refused(RefusedException refused) {
    return Reply.json(refused.status(), "{\"error\":\"" + refused.getMessage() + "\"}", null);
  }

  /** The reply with counts of transactions. */
  public static Reply statistics(Statistics statistics) {
    Json json = new Json().raw("{\"transactions\":", statistics.transactions());
    json.raw(",\"repeats\":", statistics.repeats());
    return ok(json.raw(",\"pool_wait_us\":", statistics.poolWaitUs()).raw("}"));
  }
}
