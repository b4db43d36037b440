import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { areLarge, parseLines, totalOf } from '../company/lines.js';
import { Population } from '../company/population.js';
import { output } from '../shared/random.js';

const vectors = JSON.parse(readFileSync(new URL('../../../vectors/orders.json', import.meta.url), 'utf8'));

const pairs = (lines) => lines.map(({ assembly, quantity }) => [assembly, quantity]);
const line = (quantity, price) => ({ assembly: 1, quantity, price });

// The digest of docs/reference/orders.md, in hexadecimal.
function digestOf({ order, customer, total, cancelled, lines }) {
  const values = [customer, total, cancelled ? 1 : 0, ...lines.flat()];
  return values.reduce(output, BigInt(order)).toString(16).padStart(16, '0');
}

test('populations are those of the vectors', () => {
  assert.ok(vectors.populations.length >= 2);
  for (const expected of vectors.populations) {
    const population = new Population(BigInt(expected.seed), expected.rate);
    const { customers, assemblies, components } = population;
    assert.deepEqual([customers, assemblies, components], [expected.customers, expected.assemblies, expected.components]);
    const { of_assemblies: ofAssemblies, of_components: ofComponents, of_customers: ofCustomers } = expected;
    assert.ok(ofAssemblies.length >= 2 && ofComponents.length >= 2 && ofCustomers.length >= 2);
    for (const one of ofAssemblies) {
      const { price, bill } = population.assembly(one.assembly);
      assert.deepEqual([price, bill.map(({ component, quantity }) => [component, quantity])], [one.price, one.bill]);
    }
    for (const one of ofComponents) {
      assert.equal(population.onHand(one.component), one.on_hand);
    }
    for (const one of ofCustomers) {
      const { discount, limit, total, lines } = population.customer(one.customer);
      const order = { order: one.customer, customer: one.customer, total, cancelled: false, lines: pairs(lines) };
      assert.deepEqual([discount, limit, total, pairs(lines)], [one.discount, one.limit, one.owed, one.lines]);
      assert.equal(digestOf(order), one.digest);
    }
  }
});

test('digests of orders are those of the vectors', () => {
  assert.ok(vectors.orders.length >= 2);
  for (const order of vectors.orders) {
    assert.equal(digestOf(order), order.digest);
  }
});

test('a first order is small and within the credit limit, and prices are those of the assemblies', () => {
  const population = new Population(7n, 20);
  for (let customer = 0; customer < population.customers; customer++) {
    const { limit, total, lines } = population.customer(customer);
    assert.ok(total <= limit && !areLarge(lines));
    for (const { assembly, price } of lines) {
      assert.equal(price, population.assembly(assembly).price);
    }
  }
});

test('a total is rounded half up once', () => {
  const lines = [line(1, 1_001), line(1, 1_002)];
  assert.deepEqual([0, 4, 2].map((discount) => totalOf(lines, discount)), [2_003, 2_002, 2_003]);
  assert.equal(totalOf([line(1, 1_000)], 5_000), 500);
  assert.equal(totalOf([line(1, 1_001)], 5_000), 501, '500.5');
  assert.equal(totalOf([line(1_000, 10_000), line(1_000, 10_000)], 0), 20_000_000);
});

test('an order is large from 51 pieces', () => {
  assert.deepEqual([areLarge([line(10, 1), line(40, 1)]), areLarge([line(10, 1), line(41, 1)])], [false, true]);
});

test('lines are pairs of an assembly and a quantity', () => {
  assert.deepEqual(pairs(parseLines('12:3,80:1000')), [[12, 3], [80, 1_000]]);
});
