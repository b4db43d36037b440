package org.klatch.netty;

import java.io.IOException;
import java.util.Set;
import java.util.function.Consumer;
import org.klatch.chat.Hall;
import org.klatch.server.Model;
import org.klatch.server.Options;
import org.klatch.server.Server;

/** Netty's event loops. */
public final class NettyModel implements Model {
  @Override
  public String name() {
    return "netty";
  }

  @Override
  public Set<String> knobs() {
    return Set.of("loops");
  }

  /** It flushes each delivery, but Netty puts those together that wait for a slow reader. */
  @Override
  public String classWith(Options options) {
    return "open";
  }

  @Override
  public Server listen(Options options, Hall hall, Consumer<String> log) throws IOException {
    return new NettyServer(options, hall, log);
  }
}
