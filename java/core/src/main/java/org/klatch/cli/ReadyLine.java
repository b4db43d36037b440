package org.klatch.cli;

/** The line that announces that a server accepts connections: see docs/reference/protocol.md. */
final class ReadyLine {
  private ReadyLine() {}

  /**
   * Prints the line. The listener is bound, so the kernel already completes connections.
   *
   * @param model name of the model or server
   * @param kind the class of the server; null for a workload without classes
   * @param io the mechanism with which it waits for its connections; null without a choice
   */
  static void print(boolean json, String host, int port, String model, String kind, String io) {
    long pid = ProcessHandle.current().pid();
    if (!json) {
      String what = kind == null ? model : model + " (" + kind + ")";
      System.out.printf("ready: %s on %s:%d, pid %d%n", what, host, port, pid);
      return;
    }
    String runtime = System.getProperty("java.vm.name") + " " + Runtime.version();
    Json line =
        new Json()
            .put("event", "ready")
            .put("host", host)
            .put("port", port)
            .put("pid", pid)
            .put("model", model);
    if (kind != null) {
      line.put("class", kind);
    }
    if (io != null) {
      line.put("io", io);
    }
    System.out.println(line.put("version", Version.get()).put("runtime", runtime));
  }
}
