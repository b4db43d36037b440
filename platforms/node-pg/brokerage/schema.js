// The tables of docs/reference/trade.md, which the audit reads, and their first contents.

import { populationTable } from '../shared/schema.js';
import { Table } from '../shared/table.js';
import { FEE, HOLDINGS_MAX, firstProfile } from './population.js';

const PASSWORD = 'xxx';

const POPULATION = populationTable('population', ['users', 'quotes']);
const ACCOUNTS = new Table('accounts', [
  'user_id BIGINT', 'balance BIGINT', 'open_balance BIGINT', 'logins INT', 'logouts INT',
]);
const PROFILES = new Table('profiles', [
  'user_id BIGINT', ...['password', 'name', 'address', 'email', 'card'].map((column) => `${column} VARCHAR(100)`),
]);
const QUOTES = new Table('quotes', ['symbol INT', 'price INT', 'opened INT', 'changes INT', 'volume BIGINT']);
const HOLDINGS = new Table('holdings', ['id BIGINT', 'user_id BIGINT', 'symbol INT', 'quantity INT', 'paid INT']);
const ORDERS = new Table('orders', [
  'id BIGINT', 'user_id BIGINT', 'is_sell BOOLEAN', 'is_closed BOOLEAN', 'symbol INT', 'quantity INT', 'price INT',
  'changes INT', 'fee BIGINT', 'holding BIGINT NULL',
]);

// The schema with a population.
export function schemaOf(population) {
  const { seed, users, quotes } = population;
  return {
    seed,
    sizes: { users, quotes },
    population: POPULATION,
    tables: [ACCOUNTS, PROFILES, QUOTES, HOLDINGS, ORDERS],
    sequences: { order_ids: users * HOLDINGS_MAX, holding_ids: users * HOLDINGS_MAX },
    contents: () => contents(population),
    indexes: [
      'CREATE INDEX holdings_of_user ON holdings (user_id, id)',
      'CREATE INDEX orders_of_user ON orders (user_id, id)',
      'CREATE INDEX orders_of_holding ON orders (holding)',
    ],
  };
}

function* contents(population) {
  const accounts = [];
  const profiles = [];
  const holdings = [];
  const orders = [];
  const volumes = new Array(population.quotes).fill(0);
  for (let user = 0; user < population.users; user++) {
    const first = population.user(user);
    accounts.push([user, first.balance, first.openBalance, 0, 0]);
    const { name, address, email, card } = firstProfile(user);
    profiles.push([user, PASSWORD, name, address, email, card]);
    for (const { holding, symbol, quantity, paid } of first.holdings) {
      holdings.push([holding, user, symbol, quantity, paid]);
      orders.push([holding, user, false, true, symbol, quantity, paid, 0, FEE, holding]);
      volumes[symbol] += quantity;
    }
  }
  yield [ACCOUNTS, accounts];
  yield [PROFILES, profiles];
  yield [QUOTES, volumes.map((volume, symbol) => [symbol, population.open(symbol), population.open(symbol), 0, volume])];
  yield [HOLDINGS, holdings];
  yield [ORDERS, orders];
}
