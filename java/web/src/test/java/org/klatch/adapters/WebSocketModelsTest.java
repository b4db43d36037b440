package org.klatch.adapters;

import java.util.List;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;
import org.klatch.server.Model;
import org.klatch.server.WebSocketStackRules;

/** Runs the rules of other projects' WebSocket on those of the web servers. */
@ParameterizedClass
@MethodSource("all")
class WebSocketModelsTest extends WebSocketStackRules {
  WebSocketModelsTest(Model model) {
    super(model);
  }

  static List<Model> all() {
    return List.of(
        new JettyWebSocketModel(), new TomcatWebSocketModel(), new UndertowWebSocketModel());
  }
}
