package org.klatch.shop.database;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Collection;

/** Executes statements, alone and in batches. */
public final class Sql {
  private Sql() {}

  /** Whether a table exists, in upper or lower case. */
  public static boolean hasTable(Connection connection, String table) throws SQLException {
    try (ResultSet tables = connection.getMetaData().getTables(null, null, "%", null)) {
      while (tables.next()) {
        if (tables.getString("TABLE_NAME").equalsIgnoreCase(table)) {
          return true;
        }
      }
    }
    return false;
  }

  /** Executes statements that have no parameters, in their order. */
  public static void execute(Connection connection, Collection<String> all) throws SQLException {
    try (var statement = connection.createStatement()) {
      for (String sql : all) {
        statement.execute(sql);
      }
    }
  }

  /** Executes one statement with parameters. */
  public static void update(Connection connection, String sql, Object... values)
      throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      set(statement, values);
      statement.executeUpdate();
    }
  }

  /** Executes the batches of prepared statements. */
  public static void flush(PreparedStatement... all) throws SQLException {
    for (PreparedStatement statement : all) {
      statement.executeBatch();
    }
  }

  /** Adds a set of parameters to the batch of a statement. */
  public static void add(PreparedStatement statement, Object... values) throws SQLException {
    set(statement, values);
    statement.addBatch();
  }

  /** Sets all parameters of a statement. */
  public static void set(PreparedStatement statement, Object... values) throws SQLException {
    for (int i = 0; i < values.length; i++) {
      statement.setObject(i + 1, values[i]);
    }
  }
}
