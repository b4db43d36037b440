package org.klatch.netty;

import java.io.IOException;
import java.util.Set;
import java.util.function.Consumer;
import org.klatch.server.Model;
import org.klatch.server.Options;
import org.klatch.server.Server;
import org.klatch.service.Service;

/**
 * The model {@code netty}: Netty's event loops. Each delivery is flushed, so it is one write. Only
 * for a slow reader does Netty batch the lines that have queued up.
 */
public final class NettyModel implements Model {
  @Override
  public String name() {
    return "netty";
  }

  @Override
  public Set<String> knobs() {
    return Set.of("loops", "io");
  }

  @Override
  public Server listen(Options options, Service service, Consumer<String> log) throws IOException {
    return new NettyServer(options, service, pipeline -> {}, log);
  }
}
