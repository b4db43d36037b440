package org.klatch.payara;

import jakarta.persistence.Column;
import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.Table;
import org.klatch.shop.Holding;

/** A row of the table holdings. */
@Entity
@Table(name = "holdings")
public class HoldingEntity {
  @Id private long id;

  @Column(name = "user_id")
  private long user;

  private int symbol;
  private int quantity;
  private int paid;

  /** For JPA. */
  protected HoldingEntity() {}

  /** What a user has bought. */
  HoldingEntity(long user, Holding holding) {
    id = holding.id();
    this.user = user;
    symbol = holding.symbol();
    quantity = holding.quantity();
    paid = holding.paid();
  }

  boolean isOf(long someone) {
    return user == someone;
  }

  Holding holding() {
    return new Holding(id, symbol, quantity, paid);
  }
}
