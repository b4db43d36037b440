package org.klatch.shop.orders;

import java.util.ArrayList;
import java.util.List;
import org.klatch.exchange.web.Reply;
import org.klatch.exchange.web.Request;
import org.klatch.exchange.web.Status;
import org.klatch.shop.BlockingSite;
import org.klatch.shop.Form;
import org.klatch.shop.Json;
import org.klatch.shop.RefusedException;
import org.klatch.shop.Replies;
import org.klatch.shop.ShopTargets;

/** The requests of workload orders, served by a {@link Company}. All servers share this class. */
public final class OrdersSite extends ShopTargets implements BlockingSite {
  private static final List<String> GETS = List.of("order", "customer", "purchases", "statistics");
  private static final List<String> POSTS =
      List.of("new", "change", "cancel", "plan", "schedule", "advance", "deliver");
  private static final int LINES_MAX = 5;
  private static final int QUANTITY_MAX = 1_000;

  private final Company company;

  /** Serves the company. */
  public OrdersSite(Company company) {
    super("/orders/");
    this.company = company;
  }

  @Override
  public void close() {
    company.close();
  }

  @Override
  protected Reply get(String name, Request request) throws RefusedException {
    String query = request.query() == null ? "" : request.query();
    return switch (name) {
      case "order" -> {
        Form form = new Form(query, "customer", "order");
        yield Replies.ok(
            OrdersJson.order(company.order(id(form, 0), form.number(1, Long.MAX_VALUE))));
      }
      case "customer" -> {
        int customer = id(new Form(query, "customer"), 0);
        yield Replies.ok(OrdersJson.customer(customer, company.customer(customer)));
      }
      case "purchases" -> purchases(new Form(query, "supplier", "of"));
      case "statistics" -> Replies.statistics(company.statistics());
      default -> throw unknown(name, POSTS);
    };
  }

  @Override
  protected Reply post(String name, Request request) throws RefusedException {
    String body = request.body();
    return switch (name) {
      case "new" -> {
        Form form = new Form(body, "customer", "lines");
        yield Replies.ok(OrdersJson.entered(company.enter(id(form, 0), items(form.text(1)))));
      }
      case "change" -> {
        Form form = new Form(body, "customer", "order", "lines");
        long order = form.number(1, Long.MAX_VALUE);
        var changed = company.change(id(form, 0), order, items(form.text(2)));
        yield Replies.ok(
            OrdersJson.changed(order, changed.isRefused() ? "refused" : "open", changed));
      }
      case "cancel" -> {
        Form form = new Form(body, "customer", "order");
        long order = form.number(1, Long.MAX_VALUE);
        var changed = company.cancel(id(form, 0), order);
        yield Replies.ok(OrdersJson.changed(order, Order.status(true), changed));
      }
      case "plan" -> {
        Form form = new Form(body, "assembly", "quantity");
        int quantity = positive(form.number(1, QUANTITY_MAX), "quantity");
        yield Replies.ok(OrdersJson.workOrder(company.plan(id(form, 0), quantity)));
      }
      case "schedule" -> {
        Form form = new Form(body, "work_order");
        yield Replies.ok(OrdersJson.workOrder(company.schedule(form.number(0, Long.MAX_VALUE))));
      }
      case "advance" -> advance(new Form(body, "work_order", "state"));
      case "deliver" -> {
        Form form = new Form(body, "purchase");
        Purchase purchase = company.deliver(form.number(0, Long.MAX_VALUE));
        yield Replies.ok(OrdersJson.purchase(new Json(), purchase));
      }
      default -> throw unknown(name, GETS);
    };
  }

  private Reply purchases(Form form) throws RefusedException {
    int supplier = id(form, 0);
    int of = id(form, 1);
    if (supplier >= of) {
      throw new RefusedException(Status.BAD_REQUEST, "supplier must be below of");
    }
    List<Purchase> purchases = company.purchases(supplier, of);
    Json json = new Json().raw("{\"purchases\":").list(purchases, OrdersJson::purchase);
    return Replies.ok(json.raw("}"));
  }

  private Reply advance(Form form) throws RefusedException {
    int state = (int) form.number(1, WorkOrder.COMPLETE);
    if (state < 2) {
      throw new RefusedException(Status.BAD_REQUEST, "state must be 2, 3 or 4");
    }
    long workOrder = form.number(0, Long.MAX_VALUE);
    return Replies.ok(OrdersJson.workOrder(company.advance(workOrder, state)));
  }

  /** The number of a customer, an assembly or a supplier. */
  private static int id(Form form, int index) throws RefusedException {
    return (int) form.number(index, Integer.MAX_VALUE);
  }

  /** Parses the lines of an order: pairs of an assembly and a quantity. */
  static List<Item> items(String lines) throws RefusedException {
    String[] pairs = lines.split(",", -1);
    if (pairs.length > LINES_MAX) {
      throw new RefusedException(Status.BAD_REQUEST, "at most 5 lines");
    }
    List<Item> items = new ArrayList<>(pairs.length);
    for (String pair : pairs) {
      int colon = pair.indexOf(':');
      if (colon < 0) {
        throw new RefusedException(Status.BAD_REQUEST, "a line is ASSEMBLY:QUANTITY");
      }
      int assembly = (int) Form.parse(pair.substring(0, colon), Integer.MAX_VALUE);
      long quantity = Form.parse(pair.substring(colon + 1), QUANTITY_MAX);
      items.add(new Item(assembly, positive(quantity, "quantity")));
    }
    return items;
  }

  private static int positive(long number, String name) throws RefusedException {
    if (number == 0) {
      throw new RefusedException(Status.BAD_REQUEST, name + " must be at least 1");
    }
    return (int) number;
  }
}
