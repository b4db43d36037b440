package org.klatch.server;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** Reads the system limits that bound the number of connections and threads. */
public final class SystemLimits {
  private SystemLimits() {}

  /** Lists the readable limits in brackets, for the end of an error message. */
  public static String describe() {
    List<String> limits = new ArrayList<>();
    add(limits, "open files", processLimit("Max open files"));
    add(limits, "processes", processLimit("Max processes"));
    add(limits, "kernel.threads-max", firstLine("/proc/sys/kernel/threads-max"));
    add(limits, "kernel.pid_max", firstLine("/proc/sys/kernel/pid_max"));
    add(limits, "vm.max_map_count", firstLine("/proc/sys/vm/max_map_count"));
    add(limits, "pids.max", firstLine("/sys/fs/cgroup/pids.max"));
    return " (limits: " + String.join(", ", limits) + ")";
  }

  private static void add(List<String> limits, String name, String value) {
    if (value != null) {
      limits.add(name + " " + value);
    }
  }

  /** Returns a soft limit of this process; null if it cannot be read. */
  private static String processLimit(String name) {
    try (Stream<String> lines = Files.lines(Path.of("/proc/self/limits"))) {
      return lines
          .filter(line -> line.startsWith(name))
          .map(line -> line.substring(name.length()).strip().replaceAll(" .*", ""))
          .findFirst()
          .orElse(null);
    } catch (IOException e) {
      return null;
    }
  }

  /**
   * Returns null if the file cannot be read. /proc/sys needs one read: a second returns nothing.
   */
  private static String firstLine(String file) {
    try (BufferedReader reader = Files.newBufferedReader(Path.of(file))) {
      return reader.readLine();
    } catch (IOException e) {
      return null;
    }
  }
}
