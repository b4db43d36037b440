package org.klatch.server;

import java.io.IOException;
import java.util.Set;
import java.util.concurrent.ThreadFactory;
import java.util.function.Consumer;
import org.klatch.service.Service;

/** The model {@code virtual}: {@link ThreadsModel} with virtual threads. */
public final class VirtualModel implements Model {
  @Override
  public String name() {
    return "virtual";
  }

  @Override
  public Set<String> knobs() {
    return Set.of("yield", "loops");
  }

  @Override
  public int javaMin() {
    return 21;
  }

  @Override
  public Server listen(Options options, Service service, Consumer<String> log) throws IOException {
    // Read when the first virtual thread is created. Java's own command line takes precedence.
    System.getProperties()
        .putIfAbsent("jdk.virtualThreadScheduler.parallelism", Integer.toString(options.loops()));
    return new ThreadedServer(options, service, virtualThreads(), log);
  }

  /** Calls {@code Thread.ofVirtual().factory()} by reflection: Java 17 does not have it. */
  private static ThreadFactory virtualThreads() {
    try {
      Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
      Class<?> type = Class.forName("java.lang.Thread$Builder");
      return (ThreadFactory) type.getMethod("factory").invoke(builder);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("a Java below " + new VirtualModel().javaMin(), e);
    }
  }
}
