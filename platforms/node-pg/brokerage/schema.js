// The tables of docs/reference/trade.md, which the audit reads, and their first contents.

import { FEE, HOLDINGS_MAX, firstProfile } from './population.js';

// Ids that a server takes at once from a sequence.
export const ID_BLOCK = 1_000;

const PASSWORD = 'xxx';

// The columns of each table with their types.
const TABLES = {
  population: ['seed BIGINT', 'users INT', 'quotes INT'],
  accounts: ['user_id BIGINT', 'balance BIGINT', 'open_balance BIGINT', 'logins INT', 'logouts INT'],
  profiles: ['user_id BIGINT', ...['password', 'name', 'address', 'email', 'card'].map((column) => `${column} VARCHAR(100)`)],
  quotes: ['symbol INT', 'price INT', 'opened INT', 'changes INT', 'volume BIGINT'],
  holdings: ['id BIGINT', 'user_id BIGINT', 'symbol INT', 'quantity INT', 'paid INT'],
  orders: [
    'id BIGINT', 'user_id BIGINT', 'is_sell BOOLEAN', 'is_closed BOOLEAN', 'symbol INT', 'quantity INT', 'price INT',
    'changes INT', 'fee BIGINT', 'holding BIGINT',
  ],
};

// Made after the load, which is faster.
const INDEXES = [
  'CREATE INDEX holdings_of_user ON holdings (user_id, id)',
  'CREATE INDEX orders_of_user ON orders (user_id, id)',
  'CREATE INDEX orders_of_holding ON orders (holding)',
];

// Loads the population if there are no tables, and checks that it is the database's.
export async function prepare(database, loads) {
  const { population } = database;
  const [{ exists }] = await database.onConnection((query) => query("SELECT to_regclass('population') IS NOT NULL AS exists"));
  if (!exists) {
    if (!loads) {
      throw new Error('it has no tables; load them with --load');
    }
    await database.transaction((query) => load(query, population));
  }
  const [loaded] = await database.onConnection((query) => query('SELECT seed::text, users, quotes FROM population'));
  const seed = BigInt.asUintN(64, BigInt(loaded.seed));
  if (seed !== population.seed || loaded.users !== population.users || loaded.quotes !== population.quotes) {
    throw new Error(`it has another population: seed ${seed}, ${loaded.users} users, ${loaded.quotes} quotes`);
  }
}

async function load(query, population) {
  for (const [table, columns] of Object.entries(TABLES)) {
    const isNullable = (column) => column.startsWith('holding ');
    const defined = columns.map((column) => (isNullable(column) ? column : `${column} NOT NULL`));
    const key = table === 'population' ? [] : [`PRIMARY KEY (${columns[0].split(' ')[0]})`];
    await query(`CREATE TABLE ${table} (${[...defined, ...key].join(', ')})`);
  }
  for (const sequence of ['order_ids', 'holding_ids']) {
    await query(`CREATE SEQUENCE ${sequence} START WITH ${population.users * HOLDINGS_MAX} INCREMENT BY ${ID_BLOCK}`);
  }
  for (const [table, rows] of Object.entries(contents(population))) {
    await insert(query, table, rows);
  }
  for (const index of INDEXES) {
    await query(index);
  }
}

function contents(population) {
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
  const quotes = volumes.map((volume, symbol) => [symbol, population.open(symbol), population.open(symbol), 0, volume]);
  const seed = BigInt.asIntN(64, population.seed).toString();
  return { population: [[seed, population.users, population.quotes]], accounts, profiles, quotes, holdings, orders };
}

// Inserts all rows by one statement, with an array for each column.
async function insert(query, table, rows) {
  const types = TABLES[table].map((column) => column.split(' ')[1].replace(/\(.*/, ''));
  const arrays = types.map((type, place) => `$${place + 1}::${type}[]`);
  const columns = types.map((_, place) => rows.map((row) => row[place]));
  await query(`INSERT INTO ${table} SELECT * FROM unnest(${arrays.join(', ')})`, ...columns);
}
