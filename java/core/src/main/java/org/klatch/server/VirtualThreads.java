package org.klatch.server;

import java.util.concurrent.Executor;
import java.util.concurrent.ThreadFactory;

/** Virtual threads, by reflection: Java 17 does not have them. */
public final class VirtualThreads {
  /** The oldest feature version of Java that has them. */
  public static final int JAVA_MIN = 21;

  private VirtualThreads() {}

  /**
   * Sets the number of carrier threads, if the first virtual thread is still to be created. Java's
   * own command line takes precedence.
   */
  public static void setCarriers(int carriers) {
    System.getProperties()
        .putIfAbsent("jdk.virtualThreadScheduler.parallelism", Integer.toString(carriers));
  }

  /** Executes each task in a virtual thread of its own. */
  public static Executor executor() {
    ThreadFactory factory = factory();
    return task -> factory.newThread(task).start();
  }

  /** Calls {@code Thread.ofVirtual().factory()}. */
  public static ThreadFactory factory() {
    try {
      Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
      Class<?> type = Class.forName("java.lang.Thread$Builder");
      return (ThreadFactory) type.getMethod("factory").invoke(builder);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("a Java below " + JAVA_MIN, e);
    }
  }
}
