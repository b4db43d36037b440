package org.klatch.exchange.web;

/**
 * The site of workload {@code web}: static files, dynamic pages, POST and the commands. All servers
 * share this class. Its methods may be called from any thread and never wait for input or output.
 */
public final class Site implements Responder {
  private final long seed;
  private final Store store;
  private final PostLog postLog = new PostLog();
  private volatile Dynamic dynamic;

  /**
   * What the command Reset replaces.
   *
   * @param nowS the time of reference, in seconds since 1970
   */
  private record Dynamic(AdTables tables, long nowS) {}

  /** Makes a site in which no file has been computed. */
  public Site(SiteOptions options) {
    seed = options.seed();
    store = new Store(seed, options.directories());
    install(TableOptions.INITIAL);
  }

  @Override
  public Reply reply(Request request) {
    try {
      return serve(request);
    } catch (RefusalException refusal) {
      return Reply.refuse(refusal.status());
    }
  }

  private Reply serve(Request request) throws RefusalException {
    if (!Request.isKnown(request.method())) {
      throw new RefusalException(Status.NOT_IMPLEMENTED);
    }
    Target target = Target.parse(request.path(), request.query());
    if (target == null) {
      throw new RefusalException(Status.NOT_FOUND);
    }
    String allowed = target instanceof Target.Form ? "POST" : "GET";
    if (!request.method().equals(allowed)) {
      return Reply.refuse(Status.METHOD_NOT_ALLOWED, allowed);
    }
    if (target instanceof Target.File wanted) {
      store.require(wanted.file());
      return Reply.ok(store.bytes(wanted.file()), null);
    }
    if (target instanceof Target.Page page) {
      return page(page, request);
    }
    if (target instanceof Target.Form) {
      return post(request);
    }
    return command(target, request);
  }

  /** A page with a file, and with ads if the request has a user's cookie. */
  private Reply page(Target.Page page, Request request) throws RefusalException {
    FileId file = page.file();
    boolean canHaveAds = page.script().equals(Target.DYNAMIC);
    UserCookie user = canHaveAds ? UserCookie.parse(request.cookie()) : null;
    store.require(file);
    Frame frame = new Frame(request.from(), page.script(), file.path());
    FileContent stored = store.content().file(file);
    if (user == null) {
      return Reply.ok(frame.around(stored), null);
    }
    AdChoice choice = dynamic.tables.choose(user.user(), user.lastAd());
    FileContent shown = choice.ad() < 0 ? stored : stored.rotated(choice.ad());
    return Reply.ok(frame.around(shown), choice.cookie());
  }

  private Reply post(Request request) throws RefusalException {
    if (request.body().length() > Request.BODY_BYTES_MAX) {
      throw new RefusalException(Status.CONTENT_TOO_LARGE);
    }
    PostForm form = PostForm.parse(request.body());
    UserCookie user = UserCookie.parse(request.cookie());
    if (user == null) {
      throw new RefusalException(Status.BAD_REQUEST);
    }
    store.require(form.file());
    if (!postLog.append(dynamic.nowS, form, user.user())) {
      throw new RefusalException(Status.SERVICE_UNAVAILABLE);
    }
    Frame frame = new Frame(request.from(), Target.DYNAMIC, "");
    String cookie = "my_cookie=" + (UserCookie.FIRST_USER + user.user());
    return Reply.ok(frame.around(store.content().file(form.file())), cookie);
  }

  private Reply command(Target command, Request request) {
    byte[] output = {};
    if (command instanceof Target.Reset reset) {
      install(reset.options());
      postLog.clear();
    } else {
      output = postLog.bytes();
    }
    Frame frame = new Frame(request.from(), Target.DYNAMIC, request.query());
    return Reply.ok(frame.around(output), null);
  }

  /** Makes both tables anew. */
  private void install(TableOptions options) {
    dynamic = new Dynamic(new AdTables(seed, options), options.nowS());
  }
}
