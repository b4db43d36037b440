package org.klatch.cli;

/**
 * The address of a server.
 *
 * @param port 0 for any free port
 */
record ListenAddress(String host, int port) {
  /** Parses {@code HOST:PORT}; an IPv6 address is in brackets. */
  static ListenAddress parse(String listen) throws StartupException {
    int colon = listen.lastIndexOf(':');
    if (colon < 1) {
      throw new StartupException.Usage("listen must be HOST:PORT, got " + listen);
    }
    String host = listen.substring(0, colon).replaceAll("^\\[|]$", "");
    String port = listen.substring(colon + 1);
    if (!port.matches("\\d{1,5}") || Integer.parseInt(port) > 65_535) {
      throw new StartupException.Usage("port must be 0 to 65535, got " + port);
    }
    return new ListenAddress(host, Integer.parseInt(port));
  }
}
