package org.klatch.payara;

import jakarta.persistence.Column;
import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.Table;
import org.klatch.shop.Order;

/** A row of the table orders. */
@Entity
@Table(name = "orders")
public class OrderEntity {
  @Id private long id;

  @Column(name = "user_id")
  private long user;

  @Column(name = "is_sell")
  private boolean sell;

  @Column(name = "is_closed")
  private boolean closed;

  private int symbol;
  private int quantity;
  private int price;
  private int changes;
  private long fee;
  private Long holding; // null while the order is open

  /** For JPA. */
  protected OrderEntity() {}

  /** An order that is open. */
  OrderEntity(long user, Order order) {
    id = order.id();
    this.user = user;
    sell = order.isSell();
    symbol = order.symbol();
    quantity = order.quantity();
    price = order.price();
    changes = order.changes();
    fee = order.fee();
  }

  void close(long holdingOfIt) {
    closed = true;
    holding = holdingOfIt;
  }

  Order order() {
    long of = holding == null ? 0 : holding;
    return new Order(id, sell, symbol, quantity, price, changes, fee, of);
  }
}
