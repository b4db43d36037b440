package org.klatch.exchange.web;

/**
 * What a server needs from the head of a request.
 *
 * @param method method, such as GET
 * @param path target up to the question mark
 * @param query target after the first question mark; null without one
 * @param cookie value of the first header Cookie; null without one
 * @param bodyBytes length of the body, at most {@link Request#BODY_BYTES_MAX}
 * @param keepAlive whether the connection stays open after the reply
 * @param bytes length of the head, the empty line included
 */
record RequestHead(
    String method,
    String path,
    String query,
    String cookie,
    int bodyBytes,
    boolean keepAlive,
    int bytes) {
  /** Longest head. */
  static final int BYTES_MAX = 8 * 1024;
}
