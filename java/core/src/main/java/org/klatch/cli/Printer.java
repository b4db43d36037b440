package org.klatch.cli;

import org.klatch.crowd.Histogram;
import org.klatch.crowd.Result;

/** Output format of a crowd's events and result. */
interface Printer {
  void joining(int joined, int users);

  void joined(double joinS);

  void progress(long sent, long received, long expected, Histogram latencyNs);

  void paused(long sent, long received, long activeNs, Histogram latencyNs);

  void done();

  void result(Result result);
}
