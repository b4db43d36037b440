// The transactions of orders: the order itself in one, and the new price of its quote in a second one. The reply follows both.

import { Ids } from '../shared/ids.js';
import { Refused } from '../shared/refused.js';
import { FEE } from './population.js';
import { noQuote, unknownUser } from './refused.js';

export class Orders {
  #database;
  #population;
  #orderIds = new Ids('order_ids');
  #holdingIds = new Ids('holding_ids');

  constructor(database, population) {
    this.#database = database;
    this.#population = population;
  }

  // Buys shares at the price of their quote.
  async buy(user, symbol, quantity) {
    const trade = await this.#database.transaction(async (query) => {
      const balance = await lockAccount(query, user);
      const quote = await price(query, symbol);
      const holding = await this.#holdingIds.next(query);
      const order = await this.#open(query, user, 'buy', { holding, symbol, quantity }, quote);
      const after = balance - quantity * quote.price - FEE;
      await setBalance(query, user, after);
      await query('INSERT INTO holdings VALUES ($1, $2, $3, $4, $5)', holding, user, symbol, quantity, quote.price);
      await close(query, order);
      return { order, balance: after };
    });
    await this.#changePrice(symbol, quantity);
    return trade;
  }

  // Sells a holding at the price of its quote.
  async sell(user, holding) {
    const trade = await this.#database.transaction(async (query) => {
      const balance = await lockAccount(query, user);
      const sql = 'SELECT id AS holding, symbol, quantity FROM holdings WHERE id = $1 AND user_id = $2 FOR UPDATE';
      const [held] = await query(sql, holding, user);
      if (!held) {
        throw new Refused(404, `user ${user} has no holding ${holding}`);
      }
      const quote = await price(query, held.symbol);
      const order = await this.#open(query, user, 'sell', held, quote);
      const after = balance + held.quantity * quote.price - FEE;
      await setBalance(query, user, after);
      await query('DELETE FROM holdings WHERE id = $1', holding);
      await close(query, order);
      return { order, balance: after };
    });
    await this.#changePrice(trade.order.symbol, trade.order.quantity);
    return trade;
  }

  // Stores an open order. Returns it as replies show it, which follow when it is closed.
  async #open(query, user, type, { holding, symbol, quantity }, { price: cents, changes }) {
    const id = await this.#orderIds.next(query);
    const insert = 'INSERT INTO orders VALUES ($1, $2, $3, FALSE, $4, $5, $6, $7, $8, NULL)';
    await query(insert, id, user, type === 'sell', symbol, quantity, cents, changes, FEE);
    return { order: id, type, status: 'closed', symbol, quantity, price: cents, changes, fee: FEE, holding };
  }

  // The second transaction: a new price, and the shares as volume.
  #changePrice(symbol, quantity) {
    return this.#database.transaction(async (query) => {
      const { price: cents, changes } = await price(query, symbol, ' FOR UPDATE');
      const update = 'UPDATE quotes SET price = $1, changes = $2, volume = volume + $3 WHERE symbol = $4';
      await query(update, this.#population.next(symbol, changes, cents), changes + 1, quantity, symbol);
    });
  }
}

async function lockAccount(query, user) {
  const [row] = await query('SELECT balance FROM accounts WHERE user_id = $1 FOR UPDATE', user);
  if (!row) {
    throw unknownUser(user);
  }
  return row.balance;
}

async function price(query, symbol, suffix = '') {
  const [row] = await query(`SELECT price, changes FROM quotes WHERE symbol = $1${suffix}`, symbol);
  if (!row) {
    throw noQuote(symbol);
  }
  return row;
}

function setBalance(query, user, balance) {
  return query('UPDATE accounts SET balance = $1 WHERE user_id = $2', balance, user);
}

function close(query, { order, holding }) {
  return query('UPDATE orders SET is_closed = TRUE, holding = $1 WHERE id = $2', holding, order);
}
