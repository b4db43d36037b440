// The transactions of work orders. All resolve to replies.

import { Refused } from '../shared/refused.js';

const SCHEDULED = 1;

export const COMPLETE = 4;

export class Factory {
  #database;
  #workOrderIds;
  #stock;

  constructor(database, workOrderIds, stock) {
    this.#database = database;
    this.#workOrderIds = workOrderIds;
    this.#stock = stock;
  }

  // Creates a work order that has its components.
  plan(assembly, quantity) {
    return this.#database.transaction(async (query) => {
      await this.#stock.take(query, assembly, quantity);
      const id = await this.#workOrderIds.next(query);
      const insert = 'INSERT INTO work_orders VALUES ($1, NULL, NULL, $2, $3, $4)';
      await query(insert, id, assembly, quantity, SCHEDULED);
      return { work_order: id, state: SCHEDULED, assembly, quantity };
    });
  }

  // Takes the components of a work order of a large order.
  schedule(id) {
    return this.#database.transaction(async (query) => {
      const { assembly, quantity } = await lock(query, id, 0);
      await this.#stock.take(query, assembly, quantity);
      await setState(query, id, SCHEDULED);
      return { work_order: id, state: SCHEDULED, assembly, quantity };
    });
  }

  // Takes a work order to its next state, 2 to 4.
  advance(id, state) {
    return this.#database.transaction(async (query) => {
      const { assembly, quantity } = await lock(query, id, state - 1);
      await setState(query, id, state);
      if (state === COMPLETE) {
        await query('UPDATE assemblies SET made = made + $1 WHERE assembly = $2', quantity, assembly);
      }
      return { work_order: id, state, assembly, quantity };
    });
  }
}

// Locks a work order, which must be in this state.
async function lock(query, id, state) {
  const [row] = await query('SELECT state, assembly, quantity FROM work_orders WHERE id = $1 FOR UPDATE', id);
  if (!row) {
    throw new Refused(404, `there is no work order ${id}`);
  }
  if (row.state !== state) {
    throw new Refused(409, `work order ${id} is in state ${row.state} instead of ${state}`);
  }
  return row;
}

function setState(query, id, state) {
  return query('UPDATE work_orders SET state = $1 WHERE id = $2', state, id);
}
