package org.klatch.shop.vertx;

import io.vertx.core.Future;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.SqlConnection;
import io.vertx.sqlclient.Tuple;
import org.klatch.exchange.web.Status;
import org.klatch.shop.Account;
import org.klatch.shop.Profile;
import org.klatch.shop.RefusedException;

/** The accounts and profiles. */
final class Accounts {
  private final Transactions transactions;

  Accounts(Transactions transactions) {
    this.transactions = transactions;
  }

  /** Counts a login. */
  Future<Account> login(long user, String password) {
    return transactions.make(
        connection ->
            Rows.first(
                    connection,
                    "SELECT password FROM profiles WHERE user_id = $1",
                    Tuple.of(user),
                    row -> row.getString(0))
                .compose(
                    stored ->
                        stored.filter(password::equals).isPresent()
                            ? count(connection, user, "logins")
                            : Future.failedFuture(
                                new RefusedException(
                                    Status.UNAUTHORIZED,
                                    "user " + user + " is unknown, or has another password"))));
  }

  /** Counts a logout. */
  Future<Account> logout(long user) {
    return transactions.make(connection -> count(connection, user, "logouts"));
  }

  private static Future<Account> count(SqlConnection connection, long user, String column) {
    String sql = "UPDATE accounts SET " + column + " = " + column + " + 1 WHERE user_id = $1";
    return connection
        .preparedQuery(sql)
        .execute(Tuple.of(user))
        .compose(unused -> account(connection, user));
  }

  /** Makes a new user, whose session begins. */
  Future<Account> register(long user, String password, long balance) {
    return transactions.make(
        connection ->
            Rows.first(
                    connection,
                    "SELECT 1 FROM accounts WHERE user_id = $1",
                    Tuple.of(user),
                    row -> true)
                .compose(
                    existing ->
                        existing.isEmpty()
                            ? insert(connection, user, password, balance)
                            : Future.failedFuture(
                                new RefusedException(
                                    Status.CONFLICT, "user " + user + " exists already"))));
  }

  private static Future<Account> insert(
      SqlConnection connection, long user, String password, long balance) {
    Profile profile = Profile.of(user, 0);
    return connection
        .preparedQuery("INSERT INTO accounts VALUES ($1, $2, $3, 1, 0)")
        .execute(Tuple.of(user, balance, balance))
        .compose(
            unused ->
                connection
                    .preparedQuery("INSERT INTO profiles VALUES ($1, $2, $3, $4, $5, $6)")
                    .execute(
                        Tuple.of(
                            user,
                            password,
                            profile.name(),
                            profile.address(),
                            profile.email(),
                            profile.card())))
        .map(unused -> new Account(user, balance, balance, 1, 0));
  }

  /** Reads an account. */
  Future<Account> account(long user) {
    return transactions.read(connection -> account(connection, user));
  }

  private static Future<Account> account(SqlConnection connection, long user) {
    return Rows.one(
        connection,
        "SELECT balance, open_balance, logins, logouts FROM accounts WHERE user_id = $1",
        Tuple.of(user),
        row ->
            new Account(user, row.getLong(0), row.getLong(1), row.getInteger(2), row.getInteger(3)),
        unknown(user));
  }

  /** Reads a profile. */
  Future<Profile> profile(long user) {
    return transactions.read(connection -> profile(connection, user));
  }

  private static Future<Profile> profile(SqlConnection connection, long user) {
    return Rows.one(
        connection,
        "SELECT name, address, email, card FROM profiles WHERE user_id = $1",
        Tuple.of(user),
        Accounts::profile,
        unknown(user));
  }

  private static Profile profile(Row row) {
    return new Profile(row.getString(0), row.getString(1), row.getString(2), row.getString(3));
  }

  /** Changes all of a profile but the name. The result is what is then stored. */
  Future<Profile> update(long user, String address, String email, String card) {
    return transactions.make(
        connection ->
            connection
                .preparedQuery(
                    "UPDATE profiles SET address = $1, email = $2, card = $3 WHERE user_id = $4")
                .execute(Tuple.of(address, email, card, user))
                .compose(unused -> profile(connection, user)));
  }

  /** Refuses a user that does not exist. */
  static RefusedException unknown(long user) {
    return new RefusedException(Status.UNAUTHORIZED, "user " + user + " is unknown");
  }
}
