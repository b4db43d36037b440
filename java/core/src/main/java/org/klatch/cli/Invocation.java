package org.klatch.cli;

import java.io.File;

/** How this program was started, for its hints: this code is in more than one jar. */
final class Invocation {
  private Invocation() {}

  /** {@code java -jar}, and the jar as it was named. */
  static String command() {
    String path = System.getProperty("java.class.path", "");
    boolean isJar = path.endsWith(".jar") && !path.contains(File.pathSeparator);
    return "java -jar " + (isJar ? path : "klatch.jar");
  }
}
