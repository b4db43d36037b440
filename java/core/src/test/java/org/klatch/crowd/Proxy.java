package org.klatch.crowd;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;

/**
 * Stands between a crowd and a server, and changes what the server says: a server that misbehaves.
 */
final class Proxy implements AutoCloseable {
  /** What becomes of a line. */
  interface Tamper {
    /**
     * Lines that go on to {@code listener} (a nick) in place of {@code line}; null closes the
     * connection.
     */
    List<String> deliver(String listener, String line) throws InterruptedException;
  }

  /** What the crowd said, line by line. */
  final Queue<String> said = new ConcurrentLinkedQueue<>();

  private final int serverPort;
  private final Tamper tamper;
  private final ServerSocket listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
  private final Queue<Socket> sockets = new ConcurrentLinkedQueue<>();
  private volatile Consumer<String> onSaid = line -> {};

  Proxy(int serverPort, Tamper tamper) throws IOException {
    this.serverPort = serverPort;
    this.tamper = tamper;
    new Thread(this::accept, "proxy").start();
  }

  int port() {
    return listener.getLocalPort();
  }

  /** Shows {@code action} each line that the crowd says, before the server gets it. */
  void onSaid(Consumer<String> action) {
    onSaid = action;
  }

  @Override
  public void close() throws IOException {
    listener.close();
    for (Socket socket : sockets) {
      socket.close();
    }
  }

  private void accept() {
    try {
      while (true) {
        Socket client = listener.accept();
        Socket server = new Socket(InetAddress.getLoopbackAddress(), serverPort);
        client.setTcpNoDelay(true);
        server.setTcpNoDelay(true);
        sockets.addAll(List.of(client, server));
        new Thread(() -> serve(client, server), "proxy").start();
      }
    } catch (IOException e) {
      // closed: the test is over
    }
  }

  private void serve(Socket client, Socket server) {
    try (client;
        server) {
      BufferedReader fromClient = lines(client);
      String nick = fromClient.readLine();
      pass("NICK", nick, server);
      String name = nick.substring("NICK ".length());
      new Thread(() -> copyBack(name, server, client), "proxy").start();
      String line;
      while ((line = fromClient.readLine()) != null) {
        said.add(line);
        onSaid.accept(line);
        pass("", line, server);
      }
    } catch (IOException e) {
      // one side has gone, and so goes the other
    }
  }

  private void copyBack(String nick, Socket server, Socket client) {
    try (client;
        server) {
      BufferedReader fromServer = lines(server);
      String line;
      while ((line = fromServer.readLine()) != null) {
        List<String> instead = tamper.deliver(nick, line);
        if (instead == null) {
          return;
        }
        for (String each : instead) {
          pass("", each, client);
        }
      }
    } catch (IOException | InterruptedException e) {
      // one side has gone, and so goes the other
    }
  }

  private static void pass(String expected, String line, Socket to) throws IOException {
    if (!line.startsWith(expected)) {
      throw new IOException("expected " + expected + ", got " + line);
    }
    to.getOutputStream().write((line + "\r\n").getBytes(ISO_8859_1));
  }

  private static BufferedReader lines(Socket socket) throws IOException {
    return new BufferedReader(new InputStreamReader(socket.getInputStream(), ISO_8859_1));
  }
}
