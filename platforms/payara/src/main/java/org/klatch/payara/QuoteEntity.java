package org.klatch.payara;

import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.Table;
import org.klatch.shop.Population;
import org.klatch.shop.Quote;

/** A row of the table quotes. */
@Entity
@Table(name = "quotes")
public class QuoteEntity {
  @Id private int symbol;
  private int price;
  private int opened;
  private int changes;
  private long volume;

  /** For JPA. */
  protected QuoteEntity() {}

  /** Sets the price that follows an order, and counts its shares. */
  void change(Population population, int quantity) {
    price = population.next(symbol, changes, price);
    changes++;
    volume += quantity;
  }

  Quote quote() {
    return new Quote(symbol, price, opened, changes, volume);
  }
}
