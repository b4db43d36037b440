package org.klatch.exchange.web;

import java.util.Set;

/**
 * A complete request.
 *
 * @param method its method, such as GET
 * @param path its target up to the question mark, as received
 * @param query its target after the first question mark, as received; null without one
 * @param cookie value of its first header Cookie; null without one
 * @param body its body, a character for each byte; of one with more than {@link #BODY_BYTES_MAX} at
 *     least one byte more
 * @param from address of the client
 */
public record Request(
    String method, String path, String query, String cookie, String body, String from) {
  /** Most bytes of a body. */
  public static final int BODY_BYTES_MAX = 4 * 1024;

  /** The methods of RFC 9110 and RFC 5789. */
  private static final Set<String> METHODS =
      Set.of("GET", "POST", "HEAD", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH");

  /** Whether a method is a standard one, which other servers may know. */
  static boolean isKnown(String method) {
    return METHODS.contains(method);
  }
}
