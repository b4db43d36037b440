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
 * A proxy between a crowd and a server that changes the server's lines, to simulate a faulty
 * server.
 */
final class Proxy implements AutoCloseable {
  /** Changes the lines from the server. */
  interface Tamper {
    /**
     * Returns the lines that {@code listener} (a nick) gets instead of {@code line}; null closes
     * the connection.
     */
    List<String> deliver(String listener, String line) throws InterruptedException;
  }

  /** The lines that the crowd has sent, without the NICKs. */
  final Queue<String> sent = new ConcurrentLinkedQueue<>();

  private final int serverPort;
  private final Tamper tamper;
  private final ServerSocket listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
  private final Queue<Socket> sockets = new ConcurrentLinkedQueue<>();
  private volatile Consumer<String> onSend = line -> {};

  Proxy(int serverPort, Tamper tamper) throws IOException {
    this.serverPort = serverPort;
    this.tamper = tamper;
    new Thread(this::accept, "proxy").start();
  }

  int port() {
    return listener.getLocalPort();
  }

  /** Calls {@code action} with each line of the crowd before it reaches the server. */
  void onSend(Consumer<String> action) {
    onSend = action;
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
      // the test has closed the proxy
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
        sent.add(line);
        onSend.accept(line);
        pass("", line, server);
      }
    } catch (IOException e) {
      // one side is closed, so the other is closed too
    }
  }

  private void copyBack(String nick, Socket server, Socket client) {
    try (client;
        server) {
      BufferedReader fromServer = lines(server);
      String line;
      while ((line = fromServer.readLine()) != null) {
        List<String> replacement = tamper.deliver(nick, line);
        if (replacement == null) {
          return;
        }
        for (String each : replacement) {
          pass("", each, client);
        }
      }
    } catch (IOException | InterruptedException e) {
      // one side is closed, so the other is closed too
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
