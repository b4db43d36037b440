package org.klatch.server;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** Names the limits of the system that connections and threads run into. */
public final class Limits {
  private Limits() {}

  /** The limits that are known here, in brackets. */
  public static String describe() {
    List<String> found = new ArrayList<>();
    add(found, "open files", ofProcess("Max open files"));
    add(found, "processes", ofProcess("Max processes"));
    add(found, "kernel.threads-max", firstLine("/proc/sys/kernel/threads-max"));
    add(found, "kernel.pid_max", firstLine("/proc/sys/kernel/pid_max"));
    add(found, "vm.max_map_count", firstLine("/proc/sys/vm/max_map_count"));
    add(found, "pids.max", firstLine("/sys/fs/cgroup/pids.max"));
    return " (limits here: " + String.join(", ", found) + ")";
  }

  private static void add(List<String> found, String name, String value) {
    if (value != null) {
      found.add(name + " " + value);
    }
  }

  /** The soft limit of this process; null if it is not known. */
  private static String ofProcess(String name) {
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

  /** Null if there is none. A file of /proc/sys must be read at once: it has no second part. */
  private static String firstLine(String file) {
    try (BufferedReader reader = Files.newBufferedReader(Path.of(file))) {
      return reader.readLine();
    } catch (IOException e) {
      return null;
    }
  }
}
