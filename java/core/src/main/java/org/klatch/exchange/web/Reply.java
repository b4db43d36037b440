package org.klatch.exchange.web;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.util.function.BiConsumer;

/** The reply to a request. The server that sends it adds what concerns the connection. */
public final class Reply {
  private final Status status;
  private final String contentType;
  private final byte[] body;
  private final String setCookie;
  private final String allow;

  private Reply(Status status, String contentType, byte[] body, String setCookie, String allow) {
    this.status = status;
    this.contentType = contentType;
    this.body = body;
    this.setCookie = setCookie;
    this.allow = allow;
  }

  /**
   * Makes a reply with a file or page.
   *
   * @param setCookie null without one
   */
  static Reply ok(byte[] body, String setCookie) {
    return new Reply(Status.OK, "text/html", body, setCookie, null);
  }

  /** Makes a reply that refuses a request, with its status as a short text. */
  static Reply refuse(Status status) {
    return refuse(status, null);
  }

  /** As the other method, for a target that has another method. */
  static Reply refuse(Status status, String allow) {
    String text = status.code() + " " + status.reason() + "\n";
    return new Reply(status, "text/plain", text.getBytes(ISO_8859_1), null, allow);
  }

  /**
   * Makes a reply of JSON.
   *
   * @param setCookie null without one
   */
  public static Reply json(Status status, String json, String setCookie) {
    return new Reply(status, "application/json", json.getBytes(ISO_8859_1), setCookie, null);
  }

  /** The status of the reply. */
  public Status status() {
    return status;
  }

  /** The body. Other replies share it, so it must not be changed. */
  public byte[] body() {
    return body;
  }

  /** Passes name and value of each header to {@code put}. None of them concerns the connection. */
  public void forEachHeader(BiConsumer<String, String> put) {
    put.accept("Content-Type", contentType);
    put.accept("Content-Length", Integer.toString(body.length));
    if (setCookie != null) {
      put.accept("Set-Cookie", setCookie);
    }
    if (allow != null) {
      put.accept("Allow", allow);
    }
  }

  /** The value of the header Set-Cookie; null without one. */
  String setCookie() {
    return setCookie;
  }

  /** The value of the header Allow; null without one. */
  String allow() {
    return allow;
  }
}
