package org.klatch.server;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Names the limits of the system that connections and threads run into. */
final class Limits {
  private Limits() {}

  /** The limits that are known here, in brackets; empty if none is. */
  static String describe() {
    List<String> found = new ArrayList<>();
    found.add("open files " + ofProcess("Max open files"));
    found.add("processes " + ofProcess("Max processes"));
    found.add("kernel.threads-max " + read("/proc/sys/kernel/threads-max"));
    found.add("kernel.pid_max " + read("/proc/sys/kernel/pid_max"));
    found.add("vm.max_map_count " + read("/proc/sys/vm/max_map_count"));
    found.add("cgroup pids.max " + read("/sys/fs/cgroup/pids.max"));
    return " (limits: " + String.join(", ", found) + ")";
  }

  /** The soft limit of this process. */
  private static String ofProcess(String name) {
    try {
      for (String line : Files.readAllLines(Path.of("/proc/self/limits"))) {
        if (line.startsWith(name)) {
          return line.substring(name.length()).strip().replaceAll(" .*", "");
        }
      }
    } catch (IOException e) {
      return "unknown";
    }
    return "unknown";
  }

  private static String read(String file) {
    try {
      return Files.readString(Path.of(file)).strip();
    } catch (IOException e) {
      return "unknown";
    }
  }
}
