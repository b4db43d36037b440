// The transactions of dealers. Each that changes something locks the customer first, so no other changes its orders
// meanwhile. All resolve to replies.

import { Ids } from '../shared/ids.js';
import { Refused } from '../shared/refused.js';
import { areLarge, totalOf } from './lines.js';
import { queryCustomer, queryOrder, unknownAssembly, unknownCustomer } from './queries.js';
import { ORDER_LINES } from './schema.js';

export class Dealers {
  #database;
  #workOrderIds;
  #orderIds = new Ids('order_ids');

  constructor(database, workOrderIds) {
    this.#database = database;
    this.#workOrderIds = workOrderIds;
  }

  // Enters an order of lines without prices, unless the customer would then owe more than its limit.
  enter(customer, requested) {
    return this.#database.transaction(async (query) => {
      const account = await lock(query, customer);
      const lines = await withPrices(query, requested);
      const total = totalOf(lines, account.discount);
      const owed = account.owed + total;
      if (owed > account.limit) {
        return { order: null, status: 'refused', total, owed: account.owed, work_orders: [] };
      }
      const order = await this.#orderIds.next(query);
      await insert(query, { order, customer, total, lines });
      await addOrdered(query, lines);
      const workOrders = areLarge(lines) ? await this.#insertWorkOrders(query, order, lines) : [];
      await setOwed(query, customer, owed);
      return { order, status: 'open', total, owed, work_orders: workOrders };
    });
  }

  // Changes the quantities of an order, unless the customer would then owe more than its limit. The requested lines
  // have the assemblies of the order, in its order.
  change(customer, order, requested) {
    return this.#database.transaction(async (query) => {
      const account = await lock(query, customer);
      const old = await changeable(query, customer, order);
      const lines = changed(old, requested);
      const total = totalOf(lines, account.discount);
      const owed = account.owed - old.total + total;
      if (owed > account.limit) {
        return { order, status: 'refused', total: old.total, owed: account.owed };
      }
      const update = 'UPDATE order_lines SET quantity = $1 WHERE order_id = $2 AND line = $3';
      for (const [line, { quantity }] of lines.entries()) {
        await query(update, quantity, order, line);
      }
      await addOrdered(query, [...lines, ...old.lines.map(negated)]);
      await query('UPDATE orders SET total = $1 WHERE id = $2', total, order);
      await setOwed(query, customer, owed);
      return { order, status: 'open', total, owed };
    });
  }

  // Cancels an order that is not large.
  cancel(customer, order) {
    return this.#database.transaction(async (query) => {
      const account = await lock(query, customer);
      const { total, lines } = await changeable(query, customer, order);
      await addOrdered(query, lines.map(negated));
      await query('UPDATE orders SET is_cancelled = TRUE WHERE id = $1', order);
      const owed = account.owed - total;
      await setOwed(query, customer, owed);
      return { order, status: 'cancelled', total, owed };
    });
  }

  order(customer, order) {
    return this.#database.onConnection((query) => queryOrder(query, customer, order));
  }

  customer(customer) {
    return this.#database.onConnection((query) => queryCustomer(query, customer));
  }

  // Creates a work order in state 0 for each line. Resolves to their ids.
  async #insertWorkOrders(query, order, lines) {
    const ids = [];
    for (const [line, { assembly, quantity }] of lines.entries()) {
      const id = await this.#workOrderIds.next(query);
      await query('INSERT INTO work_orders VALUES ($1, $2, $3, $4, $5, 0)', id, order, line, assembly, quantity);
      ids.push(id);
    }
    return ids;
  }
}

async function lock(query, customer) {
  const sql = 'SELECT discount, credit_limit AS limit, owed FROM customers WHERE customer_id = $1 FOR UPDATE';
  const [account] = await query(sql, customer);
  if (!account) {
    throw unknownCustomer(customer);
  }
  return account;
}

async function withPrices(query, requested) {
  const lines = [];
  for (const { assembly, quantity } of requested) {
    const [row] = await query('SELECT price FROM assemblies WHERE assembly = $1', assembly);
    if (!row) {
      throw unknownAssembly(assembly);
    }
    lines.push({ assembly, quantity, price: row.price });
  }
  return lines;
}

// An order that can be changed or cancelled.
async function changeable(query, customer, id) {
  const order = await queryOrder(query, customer, id);
  if (order.large || order.status === 'cancelled') {
    throw new Refused(409, `order ${id} is ${order.large ? 'large' : 'cancelled'}`);
  }
  return order;
}

// The lines of an order with the quantities of a request.
function changed({ order, lines: old }, requested) {
  if (requested.length !== old.length || requested.some(({ assembly }, line) => assembly !== old[line].assembly)) {
    throw new Refused(400, `order ${order} has other assemblies: ${old.map(({ assembly }) => assembly).join(', ')}`);
  }
  const lines = old.map((line, i) => ({ ...line, quantity: requested[i].quantity }));
  if (areLarge(lines)) {
    throw new Refused(400, 'a change cannot make an order large');
  }
  return lines;
}

const negated = (line) => ({ ...line, quantity: -line.quantity });

async function insert(query, { order, customer, total, lines }) {
  await query('INSERT INTO orders VALUES ($1, $2, FALSE, $3, $4)', order, customer, areLarge(lines), total);
  const rows = lines.map(({ assembly, quantity, price }, line) => [order, line, assembly, quantity, price]);
  await ORDER_LINES.insert(query, rows);
}

// Adds quantities of lines to what is ordered of their assemblies. All transactions do so in ascending order of
// assemblies, so that no two deadlock.
async function addOrdered(query, lines) {
  const quantities = new Map();
  for (const { assembly, quantity } of lines) {
    quantities.set(assembly, (quantities.get(assembly) ?? 0) + quantity);
  }
  const ascending = [...quantities].filter(([, quantity]) => quantity !== 0).sort(([a], [b]) => a - b);
  for (const [assembly, quantity] of ascending) {
    await query('UPDATE assemblies SET ordered = ordered + $1 WHERE assembly = $2', quantity, assembly);
  }
}

function setOwed(query, customer, owed) {
  return query('UPDATE customers SET owed = $1 WHERE customer_id = $2', owed, customer);
}
