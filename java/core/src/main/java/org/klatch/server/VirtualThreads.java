package org.klatch.server;

import java.util.concurrent.Executor;
import java.util.concurrent.ThreadFactory;

/** Virtual threads, by reflection: Java 17 does not have them. */
public final class VirtualThreads {
  /** The oldest feature version of Java that has them. */
  public static final int JAVA_MIN = 21;

  private static final String PARALLELISM = "jdk.virtualThreadScheduler.parallelism";

  /** Whether this class has set the number. */
  private static boolean isSet;

  private VirtualThreads() {}

  /**
   * Sets the number of carrier threads, if the first virtual thread is still to be created. Of
   * several calls the first counts.
   *
   * @throws OptionRefused if an option of Java itself sets another number
   */
  public static synchronized void setCarriers(int carriers) {
    String number = Integer.toString(carriers);
    String other = System.getProperty(PARALLELISM, number);
    if (!isSet && !other.equals(number)) {
      throw new OptionRefused(
          "-D%s=%s is set, and %s carrier threads are wanted; leave it out"
              .formatted(PARALLELISM, other, number));
    }
    isSet = true;
    System.getProperties().putIfAbsent(PARALLELISM, number);
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
