package org.klatch.netty;

import java.io.IOException;
import java.util.Set;
import java.util.function.Consumer;
import org.klatch.chat.ServerState;
import org.klatch.server.Model;
import org.klatch.server.Options;
import org.klatch.server.Server;

/**
 * Netty's event loops. Each delivery is flushed, which makes it one write; only what waits for a
 * reader that is too slow does Netty put together.
 */
public final class NettyModel implements Model {
  @Override
  public String name() {
    return "netty";
  }

  @Override
  public Set<String> knobs() {
    return Set.of("loops");
  }

  @Override
  public Server listen(Options options, ServerState state, Consumer<String> log)
      throws IOException {
    return new NettyServer(options, state, log);
  }
}
