package org.klatch.server;

import java.io.IOException;
import java.util.Set;
import java.util.function.Consumer;
import org.klatch.service.Service;

/** The model {@code virtual}: {@link ThreadsModel} with virtual threads. */
public final class VirtualModel implements Model {
  @Override
  public String name() {
    return "virtual";
  }

  @Override
  public Set<String> knobs() {
    return Set.of("yield", "loops");
  }

  @Override
  public int javaMin() {
    return VirtualThreads.JAVA_MIN;
  }

  @Override
  public Server listen(Options options, Service service, Consumer<String> log) throws IOException {
    VirtualThreads.setCarriers(options.loops());
    return new ThreadedServer(options, service, VirtualThreads.factory(), log);
  }
}
