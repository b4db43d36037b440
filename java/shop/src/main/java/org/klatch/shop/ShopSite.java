package org.klatch.shop;

import java.util.List;
import org.klatch.exchange.web.Reply;
import org.klatch.exchange.web.Request;
import org.klatch.exchange.web.Responder;
import org.klatch.exchange.web.Status;

/**
 * The requests of an application below one folder, with replies in JSON. A subclass has the
 * targets.
 */
public abstract class ShopSite implements Responder, AutoCloseable {
  private final String root;

  /**
   * Serves the targets of a folder.
   *
   * @param root path of the folder, with a slash at both ends
   */
  protected ShopSite(String root) {
    this.root = root;
  }

  @Override
  public final Reply reply(Request request) {
    try {
      String path = request.path();
      if (!path.startsWith(root)) {
        throw new RefusedException(Status.NOT_FOUND, "there is no " + plain(path));
      }
      String name = path.substring(root.length());
      return switch (request.method()) {
        case "GET" -> get(name, request);
        case "POST" -> post(name, request);
        default -> throw new RefusedException(Status.METHOD_NOT_ALLOWED, "methods: GET and POST");
      };
    } catch (RefusedException refused) {
      return Reply.json(refused.status(), "{\"error\":\"" + refused.getMessage() + "\"}", null);
    }
  }

  /** Serves a GET of the target with this name below the folder. */
  protected abstract Reply get(String name, Request request) throws RefusedException;

  /** Serves a POST to the target with this name below the folder. */
  protected abstract Reply post(String name, Request request) throws RefusedException;

  /** Closes the connections to the database. */
  @Override
  public abstract void close();

  @Override
  public final boolean blocks() {
    return true;
  }

  /** The reply with counts of transactions. */
  protected static Reply statistics(Statistics statistics) {
    Json json = new Json().raw("{\"transactions\":", statistics.transactions());
    json.raw(",\"repeats\":", statistics.repeats());
    return ok(json.raw(",\"pool_wait_us\":", statistics.poolWaitUs()).raw("}"), null);
  }

  /**
   * Makes the reply of a request that was served.
   *
   * @param cookie null without one
   */
  protected static Reply ok(Json json, String cookie) {
    return Reply.json(Status.OK, json.toString(), cookie);
  }

  /**
   * Refuses a target that the method of a request does not have.
   *
   * @param withOtherMethod names of the targets of the other method
   */
  protected final RefusedException unknown(String name, List<String> withOtherMethod) {
    return withOtherMethod.contains(name)
        ? new RefusedException(Status.METHOD_NOT_ALLOWED, name + " has another method")
        : new RefusedException(Status.NOT_FOUND, "there is no " + plain(root + name));
  }

  /** A text of a request, without what JSON would escape. */
  private static String plain(String text) {
    return text.replaceAll("[^ -~]|[\"\\\\]", "?");
  }
}
