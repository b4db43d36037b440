package org.klatch.crowd;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

class SenderTest {
  private static final int COUNT = 400;
  private static final long FROZEN_MS = 200;

  /** A server that reads nothing for a while after the tenth message. */
  private static final class FreezingServer extends OutputStream {
    private int messages;

    @Override
    public void write(int b) {
      throw new UnsupportedOperationException("messages are written whole");
    }

    @Override
    public void write(byte[] message) throws IOException {
      messages++;
      if (messages == 10) {
        try {
          Thread.sleep(FROZEN_MS);
        } catch (InterruptedException e) {
          throw new IOException(e);
        }
      }
    }
  }

  @Test
  void whatIsDueWhileTheServerDoesNotReadIsNotLateByTheCrowd() throws Exception {
    Options options = TestOptions.create(1, Pacing.RATE).rate(1000).count(COUNT).users(2).build();
    Gate gate = new Gate();
    User user =
        new User(
            new UserId(1, 0, 2),
            options,
            COUNT,
            COUNT,
            new Addresses("127.0.0.1", 1),
            gate,
            new Progress(),
            new Timeline());
    Sender sender = new Sender(user, COUNT);
    sender.writeTo(new FreezingServer());
    Thread thread = new Thread(() -> run(sender), "sender");
    sender.runsIn(thread);
    gate.open();
    thread.start();
    while (user.sent.get() < COUNT && thread.isAlive()) {
      LockSupport.parkNanos(1_000_000);
    }
    sender.leave();
    thread.join();
    assertEquals(COUNT, user.lag.total());
    // About 200 messages were due meanwhile, half of them more than 100 ms before its end.
    long p80Ns = user.lag.quantile(0.8);
    assertTrue(p80Ns < FROZEN_MS * 1_000_000 / 4, p80Ns + " ns");
  }

  private static void run(Sender sender) {
    try {
      sender.run();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
