package org.klatch.cli;

import java.nio.file.Path;
import java.util.Locale;
import org.klatch.crowd.Control;
import org.klatch.crowd.Crowd;
import org.klatch.exchange.files.Pages;
import org.klatch.readers.Options;
import org.klatch.readers.ReadException;
import org.klatch.readers.ReadModel;
import org.klatch.readers.Readers;
import org.klatch.server.VirtualThreads;
import org.klatch.web.ThreadKind;

/** Workload {@code files}: readers of cached files, and no server. */
final class FilesWorkload implements CrowdWorkload {
  private static final int READER_MAX = 1_000_000;
  private static final int BLOCK_BYTES_MAX = 1 << 20;

  private Options options;
  private ThreadKind threads;

  @Override
  public void read(Arguments arguments) throws StartupException {
    String folder = arguments.text("folder", "DIR", "", "folder of the files");
    ReadModel reads =
        reads(arguments.text("reads", "channel|mapped", "channel", "way to read a block"));
    threads = Threads.read(arguments, "threads of the readers; virtual: Java 21");
    options =
        new Options(
            Path.of(folder),
            reads,
            this::newThread,
            threads == ThreadKind.VIRTUAL,
            arguments.integer("readers", 1, 1024, 1, "readers, each a thread"),
            arguments.integer("start", 1, READER_MAX, 1, "number of the first reader"),
            block(arguments.text("block", "BYTES", "4096", "bytes of a read, a power of two")),
            random(arguments.text("order", "random|sequential", "random", "order of blocks")),
            arguments.integer("files", 1, 1000, 4, "files, which all readers read"),
            arguments.integer("file-mib", 1, 65_536, 64, "size of each file, MiB"),
            !arguments.flag("unverified", "do not compare blocks with what they must contain"),
            arguments.secondsNs("duration", 0.001, "2", "seconds for which blocks are read"),
            arguments.secondsNs(
                "timeout", 0.1, "60", "seconds without progress before the crowd fails"));
  }

  @Override
  public void check(Arguments arguments) throws StartupException {
    if (!arguments.has("folder")) {
      throw new StartupException.Usage("workload files needs -folder DIR");
    }
    if (options.start() + options.readers() - 1 > READER_MAX) {
      throw new StartupException.Usage("start + readers - 1 must be at most " + READER_MAX);
    }
    Threads.check(threads);
  }

  @Override
  public Crowd newCrowd(Control control) throws StartupException {
    try {
      return Readers.newCrowd(options, control);
    } catch (ReadException e) {
      throw new StartupException(e.getMessage());
    } catch (OutOfMemoryError e) {
      throw new StartupException(
          e.getMessage() + "; use fewer readers, or raise -XX:MaxDirectMemorySize");
    }
  }

  private Thread newThread(Runnable task) {
    return threads == ThreadKind.VIRTUAL
        ? VirtualThreads.factory().newThread(task)
        : new Thread(task);
  }

  private static ReadModel reads(String name) throws StartupException {
    for (ReadModel model : ReadModel.values()) {
      if (model.name().toLowerCase(Locale.ROOT).equals(name)) {
        return model;
      }
    }
    throw new StartupException.Usage("reads must be channel or mapped, got " + name);
  }

  private static boolean random(String name) throws StartupException {
    return switch (name) {
      case "random" -> true;
      case "sequential" -> false;
      default ->
          throw new StartupException.Usage("order must be random or sequential, got " + name);
    };
  }

  private static int block(String text) throws StartupException {
    try {
      int bytes = Integer.parseInt(text);
      boolean isPowerOfTwo = Integer.bitCount(bytes) == 1;
      if (isPowerOfTwo && bytes >= Pages.PAGE_BYTES && bytes <= BLOCK_BYTES_MAX) {
        return bytes;
      }
    } catch (NumberFormatException e) {
      // reported below, like a number out of range
    }
    throw new StartupException.Usage(
        "block size must be a power of two, 4096 to 1048576 bytes, got " + text);
  }
}
