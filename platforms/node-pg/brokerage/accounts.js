// Accounts, profiles, and what users hold and ordered.

import { Refused } from '../shared/refused.js';
import { firstProfile } from './population.js';
import { unknownUser } from './refused.js';

const ACCOUNT = 'SELECT balance, open_balance, logins, logouts FROM accounts WHERE user_id = $1';
const PROFILE = 'SELECT name, address, email, card FROM profiles WHERE user_id = $1';

export class Accounts {
  #database;

  constructor(database) {
    this.#database = database;
  }

  // Opens a session.
  login(user, password) {
    return this.#database.transaction(async (query) => {
      const [row] = await query('SELECT password FROM profiles WHERE user_id = $1', user);
      if (row?.password !== password) {
        throw new Refused(401, `user ${user} is unknown, or has another password`);
      }
      await query('UPDATE accounts SET logins = logins + 1 WHERE user_id = $1', user);
      return account(query, user);
    });
  }

  // Ends a session.
  logout(user) {
    return this.#database.transaction(async (query) => {
      await query('UPDATE accounts SET logouts = logouts + 1 WHERE user_id = $1', user);
      return account(query, user);
    });
  }

  // Makes a new user in session.
  register(user, password, balance) {
    return this.#database.transaction(async (query) => {
      const [row] = await query('SELECT 1 FROM accounts WHERE user_id = $1', user);
      if (row) {
        throw new Refused(409, `user ${user} exists already`);
      }
      await query('INSERT INTO accounts VALUES ($1, $2, $3, 1, 0)', user, balance, balance);
      const { name, address, email, card } = firstProfile(user);
      await query('INSERT INTO profiles VALUES ($1, $2, $3, $4, $5, $6)', user, password, name, address, email, card);
      return { user, balance, open_balance: balance, logins: 1, logouts: 0 };
    });
  }

  account(user) {
    return this.#database.onConnection((query) => account(query, user));
  }

  profile(user) {
    return this.#database.onConnection((query) => profile(query, user));
  }

  // Replaces all of a profile but its name.
  update(user, address, email, card) {
    return this.#database.transaction(async (query) => {
      const update = 'UPDATE profiles SET address = $1, email = $2, card = $3 WHERE user_id = $4';
      await query(update, address, email, card, user);
      return profile(query, user);
    });
  }

  // The holdings of a user in order of their ids.
  holdings(user) {
    const sql = 'SELECT id AS holding, symbol, quantity, paid FROM holdings WHERE user_id = $1 ORDER BY id';
    return this.#database.onConnection((query) => query(sql, user));
  }

  // The orders of a user with the highest ids, highest first.
  lastOrders(user, most) {
    const sql = `SELECT id AS order, CASE WHEN is_sell THEN 'sell' ELSE 'buy' END AS type, 'closed' AS status, symbol,
      quantity, price, changes, fee, holding FROM orders WHERE user_id = $1 ORDER BY id DESC LIMIT $2`;
    return this.#database.onConnection((query) => query(sql, user, most));
  }
}

async function account(query, user) {
  const [row] = await query(ACCOUNT, user);
  if (!row) {
    throw unknownUser(user);
  }
  return { user, ...row };
}

async function profile(query, user) {
  const [row] = await query(PROFILE, user);
  if (!row) {
    throw unknownUser(user);
  }
  return row;
}
