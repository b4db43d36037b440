package org.klatch.server;

import java.io.IOException;
import java.util.Set;
import java.util.function.Consumer;
import org.klatch.service.Service;

/** The model {@code threads}: two platform threads for each connection, as in VolanoMark. */
public final class ThreadsModel implements Model {
  @Override
  public String name() {
    return "threads";
  }

  @Override
  public Set<String> knobs() {
    return Set.of("yield");
  }

  @Override
  public Server listen(Options options, Service service, Consumer<String> log) throws IOException {
    return new ThreadedServer(options, service, Thread::new, log);
  }
}
