package org.klatch.shop;

import java.util.List;
import java.util.function.BiConsumer;

/** Writes replies. Texts have no characters that JSON escapes. */
final class Json {
  private final StringBuilder text = new StringBuilder(512);

  /** Appends JSON as it is. */
  Json raw(String json) {
    text.append(json);
    return this;
  }

  /** Appends a number after JSON. */
  Json raw(String json, long number) {
    text.append(json).append(number);
    return this;
  }

  /** Appends a text in quotation marks after JSON. */
  private Json raw(String json, String value) {
    text.append(json).append('"').append(value).append('"');
    return this;
  }

  /** Appends an array. */
  <T> Json list(List<T> items, BiConsumer<Json, T> append) {
    String separator = "[";
    for (T item : items) {
      text.append(separator);
      append.accept(this, item);
      separator = ",";
    }
    return raw(items.isEmpty() ? "[]" : "]");
  }

  Json account(Account account) {
    return raw("{\"user\":", account.user())
        .raw(",\"balance\":", account.balance())
        .raw(",\"open_balance\":", account.openBalance())
        .raw(",\"logins\":", account.logins())
        .raw(",\"logouts\":", account.logouts())
        .raw("}");
  }

  Json profile(Profile profile) {
    return raw("{\"name\":", profile.name())
        .raw(",\"address\":", profile.address())
        .raw(",\"email\":", profile.email())
        .raw(",\"card\":", profile.card())
        .raw("}");
  }

  Json quote(Quote quote) {
    return raw("{\"symbol\":", quote.symbol())
        .raw(",\"price\":", quote.price())
        .raw(",\"open\":", quote.open())
        .raw(",\"changes\":", quote.changes())
        .raw(",\"volume\":", quote.volume())
        .raw("}");
  }

  Json holding(Holding holding, Quote now) {
    return raw("{\"holding\":", holding.id())
        .raw(",\"symbol\":", holding.symbol())
        .raw(",\"quantity\":", holding.quantity())
        .raw(",\"paid\":", holding.paid())
        .raw(",\"price\":", now.price())
        .raw(",\"changes\":", now.changes())
        .raw("}");
  }

  Json order(Order order) {
    return raw("{\"order\":", order.id())
        .raw(",\"type\":", order.isSell() ? "sell" : "buy")
        .raw(",\"status\":", "closed")
        .raw(",\"symbol\":", order.symbol())
        .raw(",\"quantity\":", order.quantity())
        .raw(",\"price\":", order.price())
        .raw(",\"changes\":", order.changes())
        .raw(",\"fee\":", order.fee())
        .raw(",\"holding\":", order.holding())
        .raw("}");
  }

  @Override
  public String toString() {
    return text.toString();
  }
}
