package org.klatch.shop;

/** Appends the objects of the replies of workload trade. */
final class TradeJson {
  private TradeJson() {}

  static Json account(Json to, Account account) {
    return to.raw("{\"user\":", account.user())
        .raw(",\"balance\":", account.balance())
        .raw(",\"open_balance\":", account.openBalance())
        .raw(",\"logins\":", account.logins())
        .raw(",\"logouts\":", account.logouts())
        .raw("}");
  }

  static Json profile(Json to, Profile profile) {
    return to.raw("{\"name\":", profile.name())
        .raw(",\"address\":", profile.address())
        .raw(",\"email\":", profile.email())
        .raw(",\"card\":", profile.card())
        .raw("}");
  }

  static Json quote(Json to, Quote quote) {
    return to.raw("{\"symbol\":", quote.symbol())
        .raw(",\"price\":", quote.price())
        .raw(",\"open\":", quote.open())
        .raw(",\"changes\":", quote.changes())
        .raw(",\"volume\":", quote.volume())
        .raw("}");
  }

  static Json holding(Json to, Holding holding, Quote now) {
    return to.raw("{\"holding\":", holding.id())
        .raw(",\"symbol\":", holding.symbol())
        .raw(",\"quantity\":", holding.quantity())
        .raw(",\"paid\":", holding.paid())
        .raw(",\"price\":", now.price())
        .raw(",\"changes\":", now.changes())
        .raw("}");
  }

  static Json order(Json to, Order order) {
    return to.raw("{\"order\":", order.id())
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
}
