import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Dealers } from '../company/dealers.js';
import { Factory } from '../company/factory.js';
import { Stock } from '../company/stock.js';
import { Ids } from '../shared/ids.js';

// Answers each query by the first of [a part of its statement, rows], and records the statements that change something.
class FakeDatabase {
  changes = [];

  constructor(...answers) {
    this.answers = [['nextval', [{ first: 7_000 }]], ...answers];
  }

  transaction(work) {
    return work(async (sql, ...values) => {
      if (!sql.startsWith('SELECT')) {
        this.changes.push([sql.split(' ').slice(0, 3).join(' '), ...values]);
      }
      return this.answers.find(([part]) => sql.includes(part))?.[1] ?? [];
    });
  }
}

const customer = (limit) => ['FROM customers', [{ discount: 0, limit, owed: 1_000 }]];
const PRICE = ['SELECT price', [{ price: 100 }]];
const STORED = { is_cancelled: false, is_large: false, total: 300, price: 100 };

const dealers = (database) => new Dealers(database, new Ids('work_order_ids'));
const valuesOf = ({ changes }, statement) => changes.filter(([sql]) => sql === statement).map(([, ...values]) => values);
const ofAssemblies = (database) => valuesOf(database, 'UPDATE assemblies SET');

test('an order changes what is ordered in ascending order of assemblies, so that no two deadlock', async () => {
  const database = new FakeDatabase(customer(1_000_000), PRICE);
  const lines = [[80, 1], [9, 2], [80, 3], [12, 1]].map(([assembly, quantity]) => ({ assembly, quantity }));
  const reply = await dealers(database).enter(3, lines);
  assert.deepEqual(reply, { order: 7_000, status: 'open', total: 700, owed: 1_700, work_orders: [] });
  assert.deepEqual(ofAssemblies(database), [[2, 9], [1, 12], [4, 80]]);
});

test('an order at the credit limit is entered, and one above it stores nothing', async () => {
  const atLimit = new FakeDatabase(customer(1_100), PRICE);
  assert.equal((await dealers(atLimit).enter(3, [{ assembly: 1, quantity: 1 }])).status, 'open');
  const above = new FakeDatabase(customer(1_099), PRICE);
  const reply = await dealers(above).enter(3, [{ assembly: 1, quantity: 1 }]);
  assert.deepEqual(reply, { order: null, status: 'refused', total: 100, owed: 1_000, work_orders: [] });
  assert.deepEqual(above.changes, []);
});

test('each line of a large order has a work order', async () => {
  const database = new FakeDatabase(customer(1_000_000), PRICE);
  const lines = [{ assembly: 5, quantity: 30 }, { assembly: 5, quantity: 21 }];
  assert.deepEqual((await dealers(database).enter(3, lines)).work_orders, [7_000, 7_001]);
  assert.deepEqual(valuesOf(database, 'INSERT INTO work_orders'), [[7_000, 7_000, 0, 5, 30], [7_001, 7_000, 1, 5, 21]]);
});

test('a change adds only the differences to what is ordered', async () => {
  const stored = [[80, 1], [9, 2]].map(([assembly, quantity]) => ({ ...STORED, assembly, quantity }));
  const database = new FakeDatabase(customer(1_000_000), ['JOIN order_lines', stored]);
  const reply = await dealers(database).change(3, 6, [{ assembly: 80, quantity: 4 }, { assembly: 9, quantity: 2 }]);
  assert.deepEqual(reply, { order: 6, status: 'open', total: 600, owed: 1_300 });
  assert.deepEqual(ofAssemblies(database), [[3, 80]]);
});

test('an order that is large or cancelled, or has other assemblies, is not changed', async () => {
  const refusals = [
    [{ is_large: true }, 1, 409, 'order 6 is large'],
    [{ is_cancelled: true }, 1, 409, 'order 6 is cancelled'],
    [{ assembly: 8 }, 1, 400, 'order 6 has other assemblies: 8'],
    [{}, 51, 400, 'a change cannot make an order large'],
  ];
  for (const [difference, quantity, status, message] of refusals) {
    const stored = [{ ...STORED, assembly: 9, quantity: 3, ...difference }];
    const database = new FakeDatabase(customer(1_000_000), ['JOIN order_lines', stored]);
    await assert.rejects(dealers(database).change(3, 6, [{ assembly: 9, quantity }]), { status, message });
    assert.deepEqual(database.changes, []);
  }
});

test('a component that runs low is purchased once', async () => {
  const bill = ['FROM bills', [{ component: 4, quantity: 2 }]];
  const changes = async (onHand, onOrder) => {
    const database = new FakeDatabase(bill, ['FROM components', [{ on_hand: onHand, on_order: onOrder }]]);
    const factory = new Factory(database, new Ids('work_order_ids'), new Stock(database));
    await factory.plan(1, 10);
    return database.changes.slice(0, -1).map(([, ...values]) => values);
  };
  assert.deepEqual(await changes(1_020, 0), [[20, 0, 4]]);
  assert.deepEqual(await changes(1_019, 0), [[20, 1_000, 4], [7_000, 4, 1_000]]);
  assert.deepEqual(await changes(20, 1_000), [[20, 0, 4]]);
  await assert.rejects(changes(19, 1_000), { status: 409, message: 'component 4 is short: 19 on hand, 20 needed' });
});
