import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parseOptions } from '../options.js';

const MAIN = fileURLToPath(new URL('../main.js', import.meta.url));

test('options describe database and population', () => {
  const line = '--database postgresql://h:1/d --users 80 --quotes 40 --seed 18446744073709551615 --statements off --load --json';
  assert.deepEqual(parseOptions(line.split(' ')), {
    help: false,
    json: true,
    workload: 'trade',
    database: 'postgresql://h:1/d',
    loads: true,
    users: 80,
    quotes: 40,
    rate: 100,
    seed: 18446744073709551615n,
    connections: 16,
    keepsStatements: false,
    host: '127.0.0.1',
    port: 8080,
  });
});

test('a workload has the options of its population', () => {
  const { workload, rate } = parseOptions('--workload orders --database x --rate 10000'.split(' '));
  assert.deepEqual([workload, rate], ['orders', 10_000]);
});

test('bad options and a database that cannot be used are errors in one line', () => {
  const errors = {
    '': '--database is needed',
    '--database x --users 0': '--users must be 1 to 1000000',
    '--database x --statements maybe': '--statements must be on or off',
    '--database x --workload chat': '--workload must be trade or orders, got chat',
    '--database x --workload toString': '--workload must be trade or orders, got toString',
    '--database x --rate 3': '--rate belongs to --workload orders, not to trade',
    '--database x --workload orders --quotes 3': '--quotes belongs to --workload trade, not to orders',
    '--database x --workload orders --rate 10001': '--rate must be 1 to 10000',
    '--database x --listen here': '--listen must be HOST:PORT',
    '--database jdbc:h2:file:x': 'it must be postgresql:',
    '--database postgresql://h:99999/d': 'it must be postgresql://HOST:PORT/NAME',
  };
  for (const [line, reason] of Object.entries(errors)) {
    const { status, stdout, stderr } = spawnSync(process.execPath, [MAIN, ...line.split(' ').filter(Boolean)], {
      encoding: 'utf8',
    });
    assert.equal(status, 2, stderr);
    assert.ok(stderr.includes(reason) && stderr.trim().split('\n').length === 1 && stdout === '', `${line}: ${stderr}`);
  }
});
