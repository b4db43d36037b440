package org.klatch.shop.orders;

import org.klatch.shop.Json;

/** Writes the replies of workload orders. */
final class OrdersJson {
  private OrdersJson() {}

  static Json entered(Company.Entered entered) {
    Json json = new Json();
    if (entered.order() == null) {
      json.raw("{\"order\":null").raw(",\"status\":", "refused");
    } else {
      json.raw("{\"order\":", entered.order()).raw(",\"status\":", Order.status(false));
    }
    return json.raw(",\"total\":", entered.total())
        .raw(",\"owed\":", entered.owed())
        .raw(",\"work_orders\":")
        .list(entered.workOrders(), (to, id) -> to.raw("", id.longValue()))
        .raw("}");
  }

  static Json changed(long order, String status, Company.Changed changed) {
    return new Json()
        .raw("{\"order\":", order)
        .raw(",\"status\":", status)
        .raw(",\"total\":", changed.total())
        .raw(",\"owed\":", changed.owed())
        .raw("}");
  }

  static Json order(Order order) {
    return new Json()
        .raw("{\"order\":", order.id())
        .raw(",\"customer\":", order.customer())
        .raw(",\"status\":", order.status())
        .raw(",\"large\":" + order.isLarge())
        .raw(",\"total\":", order.total())
        .raw(",\"lines\":")
        .list(order.lines(), OrdersJson::line)
        .raw("}");
  }

  private static void line(Json to, Line line) {
    to.raw("{\"assembly\":", line.assembly())
        .raw(",\"quantity\":", line.quantity())
        .raw(",\"price\":", line.price())
        .raw("}");
  }

  static Json customer(int customer, Company.Account account) {
    return new Json()
        .raw("{\"customer\":", customer)
        .raw(",\"discount\":", account.discount())
        .raw(",\"limit\":", account.limit())
        .raw(",\"owed\":", account.owed())
        .raw(",\"orders\":")
        .list(account.orders(), OrdersJson::summary)
        .raw("}");
  }

  private static void summary(Json to, Company.Summary order) {
    to.raw("{\"order\":", order.order())
        .raw(",\"status\":", Order.status(order.isCancelled()))
        .raw(",\"total\":", order.total())
        .raw("}");
  }

  static Json workOrder(WorkOrder workOrder) {
    return new Json()
        .raw("{\"work_order\":", workOrder.id())
        .raw(",\"state\":", workOrder.state())
        .raw(",\"assembly\":", workOrder.assembly())
        .raw(",\"quantity\":", workOrder.quantity())
        .raw("}");
  }

  static Json purchase(Json to, Purchase purchase) {
    return to.raw("{\"purchase\":", purchase.id())
        .raw(",\"component\":", purchase.component())
        .raw(",\"quantity\":", purchase.quantity())
        .raw("}");
  }
}
