package org.klatch.shop.database;

import java.util.Set;
import org.klatch.exchange.web.Status;
import org.klatch.shop.RefusedException;

/** The rule by which a failed transaction is made again, and the refusal if it is not. */
public final class Repeats {
  /** Most repeats of one transaction. */
  public static final int MAX = 5;

  /** SQLSTATE of a lock that is not to be had: of H2, and of PostgreSQL. */
  private static final Set<String> LOCKED = Set.of("HYT00", "90131", "55P03");

  private Repeats() {}

  /**
   * Whether the database ended a transaction because of another one.
   *
   * @param state SQLSTATE of the failure; null if it has none
   */
  public static boolean isForOthers(String state) {
    return state != null && (state.startsWith("40") || LOCKED.contains(state));
  }

  /**
   * The refusal of a request whose transaction or query failed.
   *
   * @param what what failed
   * @param message the words of the database; null without any
   */
  public static RefusedException refusal(String what, String message) {
    String text = what + " failed: " + firstLine(message);
    return new RefusedException(
        Status.INTERNAL_SERVER_ERROR, text.replaceAll("[^ -~]|[\"\\\\]", "'"));
  }

  static String firstLine(String message) {
    return message == null ? "no reason given" : message.lines().findFirst().orElse("").strip();
  }
}
