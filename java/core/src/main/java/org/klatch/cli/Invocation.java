package org.klatch.cli;

import java.io.File;

/** The command that started this program, for usage messages: two jars contain this code. */
final class Invocation {
  private Invocation() {}

  /** Returns {@code java -jar} and the path of the jar. */
  static String command() {
    String path = System.getProperty("java.class.path", "");
    boolean isJar = path.endsWith(".jar") && !path.contains(File.pathSeparator);
    return "java -jar " + (isJar ? path : "klatch.jar");
  }
}
