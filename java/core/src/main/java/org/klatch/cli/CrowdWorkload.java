package org.klatch.cli;

import org.klatch.crowd.Control;
import org.klatch.crowd.Crowd;

/** A workload of the command {@code crowd}, with its options. */
interface CrowdWorkload {
  /** Reads the options. */
  void read(Arguments arguments) throws StartupException;

  /** Fails if options contradict each other. */
  void check(Arguments arguments) throws StartupException;

  /** Creates the crowd that the options describe. */
  Crowd newCrowd(Control control) throws StartupException;
}
