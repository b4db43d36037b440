package org.klatch.shop.database;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/** Ids from a sequence of the database, taken in blocks. */
final class Ids {
  private final String query;
  private long next;
  private long end;

  /**
   * Takes ids from a sequence whose increment is {@link Schema#ID_BLOCK}.
   *
   * @param query selects its next value
   */
  Ids(String query) {
    this.query = query;
  }

  /** The next id. A block is lost if the transaction ends without a commit, which does no harm. */
  synchronized long next(Connection connection) throws SQLException {
    if (next == end) {
      try (PreparedStatement statement = connection.prepareStatement(query);
          ResultSet row = statement.executeQuery()) {
        row.next();
        next = row.getLong(1);
        end = next + Schema.ID_BLOCK;
      }
    }
    return next++;
  }
}
