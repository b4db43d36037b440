package org.klatch.crowd;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/** Lets a crowd run to its end, and records its events. */
public class TestControl implements Control {
  final List<String> events = new ArrayList<>();
  final CountDownLatch joining = new CountDownLatch(1);

  @Override
  public void joining(int joined, int users) {
    joining.countDown();
  }

  @Override
  public void joined(double joinS) {
    events.add("joined");
  }

  @Override
  public String awaitGo() {
    events.add("go");
    return null;
  }

  @Override
  public void progress(long sent, long received, long expected, Histogram latencyNs) {}

  @Override
  public void paused(long sent, long received, long activeNs, Histogram latencyNs) {}

  @Override
  public void done() {
    events.add("done");
  }

  @Override
  public String awaitQuit() {
    events.add("quit");
    return null;
  }
}
