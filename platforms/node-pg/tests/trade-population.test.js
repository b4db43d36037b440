import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { nextPrice, Population } from '../brokerage/population.js';

const vectors = JSON.parse(readFileSync(new URL('../../../vectors/trade.json', import.meta.url), 'utf8'));

test('populations and prices are those of the vectors', () => {
  assert.ok(vectors.populations.length >= 2);
  for (const { seed, users, quotes, of_users: ofUsers, chains } of vectors.populations) {
    const population = new Population(BigInt(seed), users, quotes);
    assert.ok(ofUsers.length >= 2 && chains.length >= 2);
    for (const expected of ofUsers) {
      const { openBalance, balance, holdings } = population.user(expected.user);
      const rows = holdings.map(({ holding, symbol, quantity, paid }) => [holding, symbol, quantity, paid]);
      assert.deepEqual([openBalance, balance, rows], [expected.open_balance, expected.balance, expected.holdings]);
    }
    for (const { symbol, prices } of chains) {
      let price = population.open(symbol);
      prices.forEach((expected, changes) => {
        assert.equal(price, expected, `quote ${symbol} after ${changes} changes`);
        price = population.next(symbol, changes, price);
      });
    }
  }
});

test('steps of prices are those of the vectors', () => {
  assert.ok(vectors.steps.length >= 2);
  for (const { price, draw, next } of vectors.steps) {
    assert.equal(nextPrice(price, draw), next);
  }
});
