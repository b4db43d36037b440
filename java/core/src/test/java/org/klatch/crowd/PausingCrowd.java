package org.klatch.crowd;

import static org.junit.jupiter.api.Assertions.assertNotNull;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;

/** A crowd in a thread of its own, which a test pauses. */
public final class PausingCrowd implements AutoCloseable {
  /** An event of a complete pause; {@code latencies} counts those of all events so far. */
  public record Paused(long sent, long received, long activeNs, long latencies) {}

  /** The events that no call has taken. */
  final BlockingQueue<Paused> pauses = new LinkedBlockingQueue<>();

  private final TestControl control =
      new TestControl() {
        @Override
        public void paused(long sent, long received, long activeNs, Histogram latencyNs) {
          latencies += latencyNs.total();
          pauses.add(new Paused(sent, received, activeNs, latencies));
        }
      };
  private final Crowd crowd;
  private final CompletableFuture<Result> result = new CompletableFuture<>();
  private long received;
  private long latencies; // belongs to the crowd's thread

  PausingCrowd(TestOptions options) {
    this(control -> new Crowd(options.build(), control));
  }

  /** Starts a crowd. */
  public PausingCrowd(Function<Control, Crowd> newCrowd) {
    crowd = newCrowd.apply(control);
    new Thread(this::run, "pausing crowd").start();
  }

  void command(Consumer<Crowd> command) {
    command.accept(crowd);
  }

  public Paused pause() throws InterruptedException {
    crowd.pause();
    return nextPause();
  }

  public void resume() {
    crowd.resume();
  }

  /** Pauses when at least {@code count} more deliveries are made than at the last pause. */
  public Paused pauseAfterDeliveries(long count) throws InterruptedException {
    awaitDeliveries(count);
    return pause();
  }

  /** Pauses and resumes until at least {@code count} deliveries are made since the last call. */
  void awaitDeliveries(long count) throws InterruptedException {
    long goal = received + count;
    while (pause().received() < goal) {
      crowd.resume();
    }
    crowd.resume();
  }

  Paused nextPause() throws InterruptedException {
    Paused paused = pauses.poll(30, TimeUnit.SECONDS);
    assertNotNull(paused, "no event: " + result);
    received = paused.received();
    return paused;
  }

  public Result finish() throws Exception {
    crowd.finish();
    return result();
  }

  public Result result() throws Exception {
    return result.get(30, TimeUnit.SECONDS);
  }

  @Override
  public void close() {
    crowd.stop("the test has ended");
    result.handle((value, failure) -> null).join();
  }

  private void run() {
    try {
      result.complete(crowd.run());
    } catch (InterruptedException | RuntimeException e) {
      result.completeExceptionally(e);
    }
  }
}
