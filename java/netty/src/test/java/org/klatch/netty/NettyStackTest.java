package org.klatch.netty;

import org.klatch.server.WebSocketStackRules;

/** Runs the rules of other projects' WebSocket on Netty's handlers for it. */
class NettyStackTest extends WebSocketStackRules {
  NettyStackTest() {
    super(new NettyWebSocketModel());
  }
}
