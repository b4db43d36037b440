// The requests of workload orders, which has no sessions.

import { bigint, int, number, parseForm } from '../shared/form.js';
import { Refused } from '../shared/refused.js';
import { COMPLETE } from './factory.js';
import { parseLines, QUANTITY_MAX } from './lines.js';

export class OrdersTargets {
  root = '/orders/';
  gets = replying({
    order: (query) => this.#order(query),
    customer: (query) => this.#customer(query),
    purchases: (query) => this.#purchases(query),
  });
  posts = replying({
    new: (form) => this.#new(form),
    change: (form) => this.#change(form),
    cancel: (form) => this.#cancel(form),
    plan: (form) => this.#plan(form),
    schedule: (form) => this.#schedule(form),
    advance: (form) => this.#advance(form),
    deliver: (form) => this.#deliver(form),
  });
  #dealers;
  #factory;
  #stock;

  constructor({ dealers, factory, stock }) {
    this.#dealers = dealers;
    this.#factory = factory;
    this.#stock = stock;
  }

  #order(query) {
    const [customer, order] = parseForm(query, 'customer', 'order');
    return this.#dealers.order(int(customer), bigint(order));
  }

  #customer(query) {
    const [customer] = parseForm(query, 'customer');
    return this.#dealers.customer(int(customer));
  }

  async #purchases(query) {
    const [supplier, of] = parseForm(query, 'supplier', 'of').map(int);
    if (supplier >= of) {
      throw new Refused(400, 'supplier must be below of');
    }
    return { purchases: await this.#stock.purchases(supplier, of) };
  }

  #new(form) {
    const [customer, lines] = parseForm(form, 'customer', 'lines');
    return this.#dealers.enter(int(customer), parseLines(lines));
  }

  #change(form) {
    const [customer, order, lines] = parseForm(form, 'customer', 'order', 'lines');
    return this.#dealers.change(int(customer), bigint(order), parseLines(lines));
  }

  #cancel(form) {
    const [customer, order] = parseForm(form, 'customer', 'order');
    return this.#dealers.cancel(int(customer), bigint(order));
  }

  #plan(form) {
    const [assembly, quantity] = parseForm(form, 'assembly', 'quantity');
    return this.#factory.plan(int(assembly), number(quantity, 1, QUANTITY_MAX));
  }

  #schedule(form) {
    const [workOrder] = parseForm(form, 'work_order');
    return this.#factory.schedule(bigint(workOrder));
  }

  #advance(form) {
    const [workOrder, state] = parseForm(form, 'work_order', 'state');
    return this.#factory.advance(bigint(workOrder), number(state, 2, COMPLETE));
  }

  #deliver(form) {
    const [purchase] = parseForm(form, 'purchase');
    return this.#stock.deliver(bigint(purchase));
  }
}

// The functions of targets, whose replies are a body without a cookie.
function replying(targets) {
  return new Map(Object.entries(targets).map(([name, reply]) => [name, async (form) => ({ body: await reply(form) })]));
}
