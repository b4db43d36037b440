package org.klatch.crowd;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.UnknownHostException;

/**
 * The addresses of a server, which all connections of a crowd share. One that answered is tried
 * first from then on, so a dead one costs its time-out once.
 */
final class Addresses {
  /** Creates the socket of an attempt to connect. */
  interface Sockets {
    Socket create() throws IOException;
  }

  private final String host;
  private final int port;
  private InetAddress[] all; // null until a connection needs them
  private volatile int preferred; // index of the last one that answered

  Addresses(String host, int port) {
    this.host = host;
    this.port = port;
  }

  /** Addresses that are known already. */
  Addresses(int port, InetAddress... all) {
    this("", port);
    this.all = all.clone();
  }

  /**
   * Tries the addresses in turn, each with a socket of its own.
   *
   * @throws IOException if none answers: the error of the last one
   */
  void connect(Sockets sockets, int timeoutMs) throws IOException {
    InetAddress[] addresses = resolve();
    int first = preferred;
    IOException last = null;
    for (int i = 0; i < addresses.length; i++) {
      int place = (first + i) % addresses.length;
      Socket socket = sockets.create();
      try {
        socket.connect(new InetSocketAddress(addresses[place], port), timeoutMs);
        preferred = place;
        return;
      } catch (IOException e) {
        socket.close();
        last = e;
      }
    }
    throw last == null ? new IOException("unknown host " + host) : last;
  }

  private synchronized InetAddress[] resolve() throws IOException {
    if (all == null) {
      try {
        all = InetAddress.getAllByName(host);
      } catch (UnknownHostException e) {
        throw new IOException("unknown host " + host, e);
      }
    }
    return all;
  }
}
