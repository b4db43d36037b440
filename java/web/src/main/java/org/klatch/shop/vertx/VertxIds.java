package org.klatch.shop.vertx;

import io.vertx.core.Future;
import io.vertx.sqlclient.SqlConnection;
import org.klatch.shop.database.Ids;

/** Ids from a sequence of the database, taken in blocks. */
final class VertxIds {
  private final String query;
  private long next; // guarded by this, as is end
  private long end;

  /** Takes ids from a sequence that {@link Ids#sequence} created. */
  VertxIds(String sequence) {
    query = "SELECT nextval('" + sequence + "')";
  }

  /**
   * The next id. Requests that find the block used up at the same time take a block each, and the
   * rest of all but one is lost, which does no harm.
   */
  Future<Long> next(SqlConnection connection) {
    synchronized (this) {
      if (next < end) {
        return Future.succeededFuture(next++);
      }
    }
    return connection
        .preparedQuery(query)
        .execute()
        .map(rows -> firstOf(rows.iterator().next().getLong(0)));
  }

  private synchronized long firstOf(long block) {
    next = block + 1;
    end = block + Ids.BLOCK;
    return block;
  }
}
