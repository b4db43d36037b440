// A pool of connections to PostgreSQL, and transactions on them.

import { createRequire } from 'node:module';
import { StartupError } from '../options.js';
import { Accounts } from './accounts.js';
import { Market } from './market.js';
import { Orders } from './orders.js';
import { Population } from './population.js';
import { prepare } from './schema.js';

// A transaction that the database ends for the sake of others is made again so many times.
const REPEATS_MAX = 5;
const LOCK_NOT_AVAILABLE = '55P03';
const OID_OF_BIGINT = 20;

function loadPg() {
  try {
    return createRequire(import.meta.url)('pg');
  } catch {
    throw new StartupError('the module pg is not in the folders of NODE_PATH; node build.js installs it');
  }
}

// Connects to the database of the options, and loads the population if asked. Rejects with StartupError.
export async function connect(options) {
  const url = options.database.replace(/^jdbc:/, '');
  if (!url.startsWith('postgresql:')) {
    throw new StartupError(`cannot use the database ${options.database}: it must be postgresql:…`);
  }
  const pg = loadPg();
  pg.types.setTypeParser(OID_OF_BIGINT, Number); // ids and amounts are safe integers
  const { hostname, port, pathname, searchParams } = new URL(url);
  const pool = new pg.Pool({
    host: hostname,
    port: Number(port || 5432),
    database: pathname.slice(1),
    user: searchParams.get('user') ?? undefined,
    password: searchParams.get('password') ?? undefined,
    max: options.connections,
    idleTimeoutMillis: 0, // a run opens and closes no connection
  });
  // An idle connection that breaks is replaced by the next request.
  pool.on('error', () => {});
  const database = new Database(pool, new Population(options.seed, options.users, options.quotes), options);
  try {
    await prepare(database, options.loads);
    await database.openAll(options.connections);
  } catch (error) {
    const check = 'check --database, its user and its password';
    throw new StartupError(`cannot use the database: ${error.message || error.code}; ${check}`);
  }
  return database;
}

export class Database {
  #pool;
  #keepsStatements;
  #names = new Map();
  #statistics = { transactions: 0, repeats: 0, waitedMs: 0 };

  constructor(pool, population, { keepsStatements }) {
    this.#pool = pool;
    this.#keepsStatements = keepsStatements;
    this.population = population;
    this.accounts = new Accounts(this);
    this.market = new Market(this);
    this.orders = new Orders(this, population);
  }

  // Opens all connections of the pool.
  async openAll(count) {
    const all = await Promise.all(Array.from({ length: count }, () => this.#pool.connect()));
    all.forEach((connection) => connection.release());
  }

  // Makes work(query) on one connection; query(sql, ...values) resolves to rows.
  async onConnection(work) {
    const begun = performance.now();
    const connection = await this.#pool.connect();
    this.#statistics.waitedMs += performance.now() - begun;
    let failure;
    const query = async (sql, ...values) => {
      const result = await connection.query({ text: sql, values, name: this.#name(sql) });
      return result.rows;
    };
    try {
      return await work(query);
    } catch (error) {
      failure = error;
      throw error;
    } finally {
      // A connection that the database has closed does not return to the pool.
      connection.release(failure?.code?.startsWith('57') || failure?.code?.startsWith('E') ? failure : undefined);
    }
  }

  // Makes work(query) a transaction. One that fails leaves nothing behind.
  async transaction(work) {
    for (let repeats = 0; ; repeats++) {
      try {
        const result = await this.onConnection((query) => inTransaction(query, work));
        this.#statistics.transactions += 1;
        return result;
      } catch (error) {
        if (repeats === REPEATS_MAX || !endedForOthers(error)) {
          throw error;
        }
        this.#statistics.repeats += 1;
      }
    }
  }

  // Counts since the start.
  statistics() {
    const { transactions, repeats, waitedMs } = this.#statistics;
    return { transactions, repeats, pool_wait_us: Math.round(waitedMs * 1000) };
  }

  // A statement with a name is prepared once on each connection.
  #name(sql) {
    if (!this.#keepsStatements) {
      return undefined;
    }
    let name = this.#names.get(sql);
    if (name === undefined) {
      name = `s${this.#names.size}`;
      this.#names.set(sql, name);
    }
    return name;
  }
}

async function inTransaction(query, work) {
  await query('BEGIN');
  let result;
  try {
    result = await work(query);
  } catch (error) {
    await query('ROLLBACK').catch(() => {}); // the first error is the cause
    throw error;
  }
  await query('COMMIT');
  return result;
}

function endedForOthers({ code }) {
  return code === LOCK_NOT_AVAILABLE || (typeof code === 'string' && code.startsWith('40'));
}
