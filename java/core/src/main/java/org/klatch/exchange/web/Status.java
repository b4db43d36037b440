package org.klatch.exchange.web;

/** The status of a reply. */
public enum Status {
  /** The request was served. */
  OK(200, "OK"),
  /** The request breaks the rules of HTTP, or its cookie or form those of the workload. */
  BAD_REQUEST(400, "Bad Request"),
  /** The user is unknown, or the password is wrong. */
  UNAUTHORIZED(401, "Unauthorized"),
  /** There is no such target or directory. */
  NOT_FOUND(404, "Not Found"),
  /** The target has another method. */
  METHOD_NOT_ALLOWED(405, "Method Not Allowed"),
  /** The request did not arrive in time. */
  REQUEST_TIMEOUT(408, "Request Timeout"),
  /** There is one already. */
  CONFLICT(409, "Conflict"),
  /** The body has more bytes than the limit. */
  CONTENT_TOO_LARGE(413, "Content Too Large"),
  /** The head has more bytes or headers than the limit. */
  HEAD_TOO_LARGE(431, "Request Header Fields Too Large"),
  /** A transaction failed. */
  INTERNAL_SERVER_ERROR(500, "Internal Server Error"),
  /** The method is unknown, or the body has a transfer coding. */
  NOT_IMPLEMENTED(501, "Not Implemented"),
  /** The post log is full. The command Reset empties it. */
  SERVICE_UNAVAILABLE(503, "Service Unavailable");

  private final int code;
  private final String reason;

  Status(int code, String reason) {
    this.code = code;
    this.reason = reason;
  }

  /** The three digits of the status line. */
  public int code() {
    return code;
  }

  /** The phrase of the status line. */
  public String reason() {
    return reason;
  }
}
