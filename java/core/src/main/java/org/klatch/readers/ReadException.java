package org.klatch.readers;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/** Signals that a file of the workload cannot be opened or read. */
public final class ReadException extends IOException {
  private static final long serialVersionUID = 1;

  ReadException(Path path, String reason) {
    super("cannot read " + path + ": " + reason);
  }

  ReadException(Path path, IOException cause) {
    super("cannot read " + path + ": " + reason(cause), cause);
  }

  /** The words of the system, which the message of some exceptions lacks. */
  private static String reason(IOException cause) {
    if (cause instanceof NoSuchFileException) {
      return "No such file or directory";
    }
    if (cause instanceof AccessDeniedException) {
      return "Permission denied";
    }
    boolean hasReason = cause instanceof FileSystemException e && e.getReason() != null;
    return hasReason ? ((FileSystemException) cause).getReason() : cause.getMessage();
  }
}
