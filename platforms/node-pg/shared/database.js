// Transactions on a pool of connections to PostgreSQL.

// The most repeats of a transaction that the database ends because of others.
const REPEATS_MAX = 5;
const LOCK_NOT_AVAILABLE = '55P03';

export class Database {
  #pool;
  #keepsStatements;
  #names = new Map();
  #statistics = { transactions: 0, repeats: 0, waitedMs: 0 };

  // The pool is one of pg.
  constructor(pool, { keepsStatements }) {
    this.#pool = pool;
    this.#keepsStatements = keepsStatements;
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
