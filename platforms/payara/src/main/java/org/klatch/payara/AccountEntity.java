package org.klatch.payara;

import jakarta.persistence.Column;
import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.Table;
import org.klatch.shop.Account;

/** A row of the table accounts. */
@Entity
@Table(name = "accounts")
public class AccountEntity {
  @Id
  @Column(name = "user_id")
  private long user;

  private long balance;

  @Column(name = "open_balance")
  private long openBalance;

  private int logins;
  private int logouts;

  /** For JPA. */
  protected AccountEntity() {}

  /** The account of a new user, whose first session begins. */
  AccountEntity(long user, long balance) {
    this.user = user;
    this.balance = balance;
    openBalance = balance;
    logins = 1;
  }

  void countLogin() {
    logins++;
  }

  void countLogout() {
    logouts++;
  }

  /** Adds an amount in cents, which may be negative. Returns the balance after it. */
  long add(long cents) {
    balance += cents;
    return balance;
  }

  Account account() {
    return new Account(user, balance, openBalance, logins, logouts);
  }
}
