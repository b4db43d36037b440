package org.klatch.crowd;

/**
 * What runs in a crowd: users in rooms, or readers of files. Each has threads of its own, reports
 * its progress to the crowd's {@link Progress}, and begins nothing while its {@link Gate} is
 * closed. The crowd's thread calls these methods.
 */
public interface Parties {
  /** How many there are. */
  int count();

  /** What one of them is called in messages to users. */
  String noun();

  /** Makes one of them join, from number 0 on. */
  void start(int number);

  /** Wakes those that wait for the gate. Called after it has opened. */
  void gateOpened();

  /** Messages sent so far. */
  long sent();

  /** Deliveries verified so far. */
  long received();

  /** The sum of both that is expected at the end. */
  long expected();

  /** Whether nothing is in flight any more. Called while the gate is closed. */
  boolean isDrained();

  /** Time of the last verified delivery, ns since the crowd's start; 0 if there is none. */
  long lastDeliveryNs();

  /** Adds the latencies of all deliveries to {@code all}. Called while nothing is in flight. */
  void addLatencies(Histogram all);

  /** Moves the latencies that no earlier call has moved to {@code latencies}. Any time. */
  void moveUnreportedLatencies(Histogram latencies);

  /**
   * Describes the lack of progress for {@code timeoutS} seconds.
   *
   * @param draining whether the gate is closed, so that only what was sent is missing
   */
  Failure stalled(double timeoutS, boolean draining);

  /** Ends all threads, after a failure without delay. */
  void leave(boolean failed) throws InterruptedException;

  /**
   * Adds up the accounts of all, once their threads have ended.
   *
   * @param failure the first failure, or null
   */
  Result result(double joinS, boolean finished, Failure failure);
}
