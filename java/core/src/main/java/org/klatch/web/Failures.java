package org.klatch.web;

import java.io.IOException;
import java.net.BindException;

/** The errors of servers of other projects, whose methods declare any exception. */
public final class Failures {
  /** Something of a server that may fail in any way. */
  public interface Action {
    /** Does it. */
    void run() throws Exception;
  }

  private Failures() {}

  /** The reason why a server does not listen: the system's message, if it is that of the system. */
  public static IOException listening(Exception failure) {
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      if (cause instanceof BindException) {
        return new IOException(cause.getMessage(), failure);
      }
    }
    return new IOException(failure.toString(), failure);
  }

  /** Closes a server. */
  public static void closing(Action close) throws IOException {
    try {
      close.run();
    } catch (IOException | RuntimeException e) {
      throw e;
    } catch (Exception e) {
      throw new IOException(e.toString(), e);
    }
  }
}
