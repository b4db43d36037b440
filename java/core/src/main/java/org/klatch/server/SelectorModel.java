package org.klatch.server;

import java.io.IOException;
import java.util.Set;
import java.util.function.Consumer;
import org.klatch.service.Service;

/** The model {@code selector}: event loops over NIO selectors. */
public final class SelectorModel implements Model {
  @Override
  public String name() {
    return "selector";
  }

  @Override
  public Set<String> knobs() {
    return Set.of("loops", "coalesce");
  }

  @Override
  public String classWith(Options options) {
    return options.coalesce() ? "open" : "classic";
  }

  @Override
  public Server listen(Options options, Service service, Consumer<String> log) throws IOException {
    return new SelectorServer(options, service, log);
  }
}
