package org.klatch.shop.database;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/** Ids from a sequence of the database, taken in blocks. */
public final class Ids {
  /** Ids that a server takes at once from a sequence. */
  public static final int BLOCK = 1_000;

  /**
   * Takes a block from the sequence.
   *
   * @param <E> how it fails
   */
  public interface Block<E extends Exception> {
    /** Returns its first id. */
    long first() throws E;
  }

  private final String query;
  private long next;
  private long end;

  /**
   * Takes ids from a sequence whose increment is that of {@link #sequence}.
   *
   * @param query selects its next value
   */
  public Ids(String query) {
    this.query = query;
  }

  /** The statement that creates a sequence of ids. */
  public static String sequence(String name, long firstId) {
    return "CREATE SEQUENCE %s START WITH %d INCREMENT BY %d MINVALUE 0"
        .formatted(name, firstId, BLOCK);
  }

  /** The next id. A block is lost if the transaction ends without a commit, which does no harm. */
  public long next(Connection connection) throws SQLException {
    return next(
        () -> {
          try (PreparedStatement statement = connection.prepareStatement(query);
              ResultSet row = statement.executeQuery()) {
            row.next();
            return row.getLong(1);
          }
        });
  }

  /** The next id, for a client of the database that is not JDBC. */
  public synchronized <E extends Exception> long next(Block<E> block) throws E {
    if (next == end) {
      next = block.first();
      end = next + BLOCK;
    }
    return next++;
  }

  /** The query for the next value of the sequence. */
  public String query() {
    return query;
  }
}
