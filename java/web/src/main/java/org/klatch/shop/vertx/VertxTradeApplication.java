package org.klatch.shop.vertx;

import java.io.IOException;
import org.klatch.exchange.web.Responder;
import org.klatch.shop.Population;
import org.klatch.shop.database.Database;
import org.klatch.shop.database.TradeApplication;
import org.klatch.web.ApplicationOptions;

/** Workload trade by the client of Vert.x. The population is loaded, and audited, by JDBC. */
public final class VertxTradeApplication extends TradeApplication {
  @Override
  public String client() {
    return "vertx";
  }

  @Override
  protected Responder site(ApplicationOptions options, Database database, Population population)
      throws IOException {
    database.close();
    if (!options.database().startsWith("jdbc:postgresql:")) {
      throw new IOException(
          "the client vertx has PostgreSQL only, got the database " + options.database());
    }
    return new VertxTradeSite(new Transactions(options), population);
  }
}
