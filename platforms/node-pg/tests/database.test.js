import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Database } from '../shared/database.js';

// A pool that records the statements of its connections and answers them by answer(sql), which may throw.
class FakePool {
  statements = [];
  inUse = 0;

  constructor(answer) {
    this.answer = answer;
  }

  async connect() {
    this.inUse += 1;
    return {
      query: async ({ text, name }) => {
        this.statements.push(name === undefined ? text : `${name} ${text}`);
        return { rows: this.answer(text) ?? [] };
      },
      release: () => {
        this.inUse -= 1;
      },
    };
  }
}

const error = (code) => Object.assign(new Error('ended'), { code });
const work = (query) => query('SELECT 1');

function failing(code, failures) {
  let left = failures;
  return new FakePool((sql) => {
    if (sql === 'SELECT 1' && left-- > 0) {
      throw error(code);
    }
    return [{ one: 1 }];
  });
}

test('a transaction is committed, and its statements have names', async () => {
  const pool = failing('', 0);
  const database = new Database(pool, { keepsStatements: true });
  assert.deepEqual(await database.transaction(work), [{ one: 1 }]);
  await database.transaction(work);
  assert.deepEqual(pool.statements.slice(3), ['s0 BEGIN', 's1 SELECT 1', 's2 COMMIT']);
  const { transactions, repeats } = database.statistics();
  assert.deepEqual([transactions, repeats, pool.inUse], [2, 0, 0]);
});

for (const code of ['40P01', '40001', '55P03']) {
  test(`a transaction that ends with ${code} is made again, at most five times`, async () => {
    const pool = failing(code, 5);
    const database = new Database(pool, { keepsStatements: false });
    await database.transaction(work);
    assert.equal(pool.statements.filter((sql) => sql === 'ROLLBACK').length, 5);
    assert.deepEqual([database.statistics().transactions, database.statistics().repeats], [1, 5]);

    const hopeless = failing(code, 6);
    await assert.rejects(new Database(hopeless, {}).transaction(work), { code });
    assert.deepEqual([hopeless.statements.filter((sql) => sql === 'BEGIN').length, hopeless.inUse], [6, 0]);
  });
}

test('a transaction that ends with another error is not made again', async () => {
  const pool = failing('23505', 1);
  await assert.rejects(new Database(pool, {}).transaction(work), { code: '23505' });
  assert.deepEqual(pool.statements, ['BEGIN', 'SELECT 1', 'ROLLBACK']);
});
