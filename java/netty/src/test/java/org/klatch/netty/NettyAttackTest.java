package org.klatch.netty;

import io.netty.channel.epoll.Epoll;
import java.util.List;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.klatch.server.AttackRules;
import org.klatch.server.Model;

/** Runs the attacks on Netty. */
@ParameterizedClass
@MethodSource("all")
class NettyAttackTest extends AttackRules {
  NettyAttackTest(Model model, int loops) {
    super(model, loops);
  }

  /** Of Netty's transports only that on epoll has the time limit of the kernel. */
  @Override
  protected boolean closesStalled() {
    return Epoll.isAvailable();
  }

  static List<Arguments> all() {
    return NettyEchoTest.all();
  }
}
