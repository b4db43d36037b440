package org.klatch.cli;

import org.klatch.crowd.Histogram;
import org.klatch.crowd.Result;

/** How a crowd's events and result look. */
interface Printer {
  void joining(int joined, int users);

  void joined(double joinS);

  void progress(long sent, long received, long expected, Histogram latencyNs);

  void done();

  void result(Result result);
}
