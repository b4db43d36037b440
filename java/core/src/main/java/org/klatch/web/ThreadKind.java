package org.klatch.web;

/** The threads that handle requests. */
public enum ThreadKind {
  /** A pool of threads of the operating system. */
  PLATFORM,
  /** A virtual thread for each request, or for each connection. */
  VIRTUAL
}
