package org.klatch.payara;

import java.net.HttpURLConnection;
import java.net.URI;

/**
 * Succeeds if the brokerage serves: the server accepts connections before it has an application.
 */
public final class Probe {
  private Probe() {}

  /** Asks a brokerage, whose address is the argument, for its statistics. */
  public static void main(String[] arguments) throws Exception {
    URI target = URI.create("http://" + arguments[0] + "/trade/statistics");
    HttpURLConnection connection = (HttpURLConnection) target.toURL().openConnection();
    System.exit(connection.getResponseCode() == HttpURLConnection.HTTP_OK ? 0 : 1);
  }
}
