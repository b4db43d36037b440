// The command line.

import { parseArgs } from 'node:util';

export const PROGRAM = 'node-pg';

// The options of each workload, beside those that all have.
const WORKLOADS = { trade: ['users', 'quotes'], orders: ['rate'] };

export const USAGE = `Klatch's business applications in Node, on PostgreSQL.
Workload trade: a brokerage. Workload orders: dealers, a factory and its suppliers.

Usage: node main.js --database URL [OPTIONS]

Options:
      --workload trade|orders  Application to serve [default: trade]
      --database URL           The database: [jdbc:]postgresql://HOST:PORT/NAME?user=USER
      --load                   Load the population if the database has no tables
      --users N                Workload trade: users of the population [default: 5000]
      --quotes N               Workload trade: quotes of the population [default: 1000]
      --rate N                 Workload orders: injection rate of the population [default: 100]
      --seed SEED              Seed of the population [default: 1]
      --connections N          Connections of the pool to the database [default: 16]
      --statements on|off      Keep prepared statements [default: on]
      --listen HOST:PORT       Address to listen on; port 0 takes a free one [default: 127.0.0.1:8080]
      --json                   Print the ready line as JSON
      --help                   Print this help
`;

// An error with a message for the user, printed without a stack trace.
export class StartupError extends Error {}

const text = { type: 'string' };
const flag = { type: 'boolean' };
const OPTIONS = {
  workload: text,
  database: text,
  load: flag,
  users: text,
  quotes: text,
  rate: text,
  seed: text,
  connections: text,
  statements: text,
  listen: text,
  json: flag,
  help: flag,
};

// Returns { help, json, workload, database, loads, users, quotes, rate, seed, connections, keepsStatements, host, port };
// throws StartupError. The seed is a BigInt.
export function parseOptions(args) {
  const values = parse(args);
  const { workload = 'trade' } = values;
  rejectOptionsOfOthers(workload, values);
  if (values.database === undefined && !values.help) {
    throw new StartupError('--database is needed; try --help');
  }
  const statements = values.statements ?? 'on';
  if (statements !== 'on' && statements !== 'off') {
    throw new StartupError(`--statements must be on or off, got ${statements}; try --help`);
  }
  return {
    help: values.help ?? false,
    json: values.json ?? false,
    workload,
    database: values.database ?? '',
    loads: values.load ?? false,
    users: number(values, 'users', 1_000_000, 5_000),
    quotes: number(values, 'quotes', 100_000, 1_000),
    rate: number(values, 'rate', 10_000, 100),
    seed: seed(values.seed ?? '1'),
    connections: number(values, 'connections', 10_000, 16),
    keepsStatements: statements === 'on',
    ...address(values.listen ?? '127.0.0.1:8080'),
  };
}

function parse(args) {
  try {
    return parseArgs({ args, options: OPTIONS }).values;
  } catch (error) {
    throw new StartupError(`${error.message.split('. ')[0]}; try --help`);
  }
}

function rejectOptionsOfOthers(workload, values) {
  if (!Object.hasOwn(WORKLOADS, workload)) {
    throw new StartupError(`--workload must be trade or orders, got ${workload}; try --help`);
  }
  for (const [other, options] of Object.entries(WORKLOADS)) {
    const option = options.find((name) => values[name] !== undefined);
    if (option && other !== workload) {
      throw new StartupError(`--${option} belongs to --workload ${other}, not to ${workload}; try --help`);
    }
  }
}

function address(listen) {
  const [, host, port] = /^(\[[^\]]+\]|[^:]+):(\d{1,5})$/.exec(listen) ?? [];
  if (host === undefined || Number(port) > 65_535) {
    throw new StartupError(`--listen must be HOST:PORT, like 127.0.0.1:8080, got ${listen}; try --help`);
  }
  return { host: host.replace(/[[\]]/g, ''), port: Number(port) };
}

function number(values, name, most, fallback) {
  const digits = values[name] ?? String(fallback);
  const value = /^\d+$/.test(digits) ? Number(digits) : NaN;
  if (!(value >= 1 && value <= most)) {
    throw new StartupError(`--${name} must be 1 to ${most}, got ${digits}; try --help`);
  }
  return value;
}

function seed(digits) {
  if (!/^\d{1,20}$/.test(digits) || BigInt(digits) >= 2n ** 64n) {
    throw new StartupError(`--seed must be 0 to 18446744073709551615, got ${digits}; try --help`);
  }
  return BigInt(digits);
}
