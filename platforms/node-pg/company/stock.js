// The components on hand, and the purchases that replace those taken.

import { Ids } from '../shared/ids.js';
import { Refused } from '../shared/refused.js';
import { unknownAssembly } from './queries.js';

const PURCHASE_QUANTITY = 1_000;
const PURCHASES_SHOWN = 20;

const SUBTRACT = `UPDATE components SET on_hand = on_hand - $1, consumed = consumed + $1, on_order = on_order + $2
  WHERE component = $3`;
const ADD = 'UPDATE components SET on_hand = on_hand + $1, received = received + $1, on_order = 0 WHERE component = $2';
const PURCHASES = `SELECT id AS purchase, component, quantity FROM purchases
  WHERE is_delivered = FALSE AND MOD(component, $1) = $2 ORDER BY id FETCH FIRST $3 ROWS ONLY`;

export class Stock {
  #database;
  #purchaseIds = new Ids('purchase_ids');

  constructor(database) {
    this.#database = database;
  }

  // Takes the components of some pieces of an assembly, as a part of a transaction. It takes all or none.
  async take(query, assembly, pieces) {
    const parts = [];
    for (const { component, quantity } of await bill(query, assembly)) {
      const needed = quantity * pieces;
      const { on_hand: onHand, on_order: onOrder } = await lock(query, component);
      if (onHand < needed) {
        throw new Refused(409, `component ${component} is short: ${onHand} on hand, ${needed} needed`);
      }
      parts.push({ component, needed, isLow: onHand - needed < PURCHASE_QUANTITY && onOrder === 0 });
    }
    for (const { component, needed, isLow } of parts) {
      await query(SUBTRACT, needed, isLow ? PURCHASE_QUANTITY : 0, component);
      if (isLow) {
        const id = await this.#purchaseIds.next(query);
        await query('INSERT INTO purchases VALUES ($1, $2, $3, FALSE)', id, component, PURCHASE_QUANTITY);
      }
    }
  }

  // The purchases of a supplier that are not delivered, lowest ids first. supplier is a number from 0, and of is how many
  // suppliers there are.
  purchases(supplier, of) {
    return this.#database.onConnection((query) => query(PURCHASES, of, supplier, PURCHASES_SHOWN));
  }

  // Delivers a purchase.
  deliver(purchase) {
    return this.#database.transaction(async (query) => {
      const { component, quantity } = await lockPurchase(query, purchase);
      await query('UPDATE purchases SET is_delivered = TRUE WHERE id = $1', purchase);
      await query(ADD, quantity, component);
      return { purchase, component, quantity };
    });
  }
}

// The components of one piece, in ascending order, so that no two transactions that lock them deadlock.
async function bill(query, assembly) {
  const parts = await query('SELECT component, quantity FROM bills WHERE assembly = $1 ORDER BY component', assembly);
  if (parts.length === 0) {
    throw unknownAssembly(assembly);
  }
  return parts;
}

async function lock(query, component) {
  const [row] = await query('SELECT on_hand, on_order FROM components WHERE component = $1 FOR UPDATE', component);
  if (!row) {
    throw new Error(`component ${component} is missing`);
  }
  return row;
}

async function lockPurchase(query, purchase) {
  const sql = 'SELECT component, quantity, is_delivered FROM purchases WHERE id = $1 FOR UPDATE';
  const [row] = await query(sql, purchase);
  if (!row) {
    throw new Refused(404, `there is no purchase ${purchase}`);
  }
  if (row.is_delivered) {
    throw new Refused(409, `purchase ${purchase} is delivered already`);
  }
  return row;
}
