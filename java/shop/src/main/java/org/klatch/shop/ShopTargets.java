package org.klatch.shop;

import java.util.List;
import org.klatch.exchange.web.Reply;
import org.klatch.exchange.web.Request;
import org.klatch.exchange.web.Status;

/** The targets of an application below one folder. A subclass has them. */
public abstract class ShopTargets {
  private final String root;

  /**
   * Serves the targets of a folder.
   *
   * @param root path of the folder, with a slash at both ends
   */
  protected ShopTargets(String root) {
    this.root = root;
  }

  /** Serves a request. */
  public final Reply serve(Request request) throws RefusedException {
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
  }

  /** Serves a GET of the target with this name below the folder. */
  protected abstract Reply get(String name, Request request) throws RefusedException;

  /** Serves a POST to the target with this name below the folder. */
  protected abstract Reply post(String name, Request request) throws RefusedException;

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
