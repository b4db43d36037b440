package org.klatch.crowd;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class AddressesTest {
  private final List<Socket> attempts = new ArrayList<>();

  private Socket create() {
    Socket socket = new Socket();
    attempts.add(socket);
    return socket;
  }

  @Test
  void aDeadFirstAddressIsTriedOnce() throws Exception {
    InetAddress dead = InetAddress.getByName("127.0.0.2");
    InetAddress alive = InetAddress.getLoopbackAddress();
    try (ServerSocket server = new ServerSocket(0, 50, alive)) {
      var addresses = new Addresses(server.getLocalPort(), dead, alive);
      addresses.connect(this::create, 5000);
      assertEquals(2, attempts.size());
      assertTrue(attempts.get(0).isClosed());
      assertEquals(alive, attempts.get(1).getInetAddress());
      addresses.connect(this::create, 5000);
      assertEquals(3, attempts.size());
      assertEquals(alive, attempts.get(2).getInetAddress());
    }
    for (Socket socket : attempts) {
      socket.close();
    }
  }

  @Test
  void theErrorIsThatOfTheLastAddress() throws Exception {
    int port;
    try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = server.getLocalPort();
    }
    var addresses = new Addresses(port, InetAddress.getLoopbackAddress());
    var refused = assertThrows(IOException.class, () -> addresses.connect(this::create, 5000));
    assertEquals("Connection refused", refused.getMessage());
    var unknown = new Addresses("no.such.host.invalid", 1);
    var error = assertThrows(IOException.class, () -> unknown.connect(this::create, 5000));
    assertEquals("unknown host no.such.host.invalid", error.getMessage());
  }
}
