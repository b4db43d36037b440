// The command line.

import { parseArgs } from 'node:util';

export const PROGRAM = 'node-events';

// What the server does with the bytes of its connections.
const WORKLOADS = ['chat', 'rr'];

export const USAGE = `Klatch's server in Node: one event loop. Workload chat: one write for each delivery (class classic).
Workload rr: an echo of all bytes (RFC 862).

Usage: node main.js [OPTIONS]

Options:
      --workload chat|rr              IRC, or an echo of all bytes [default: chat]
      --listen HOST:PORT              Address to listen on; port 0 takes a free one [default: 127.0.0.1:6667]
      --sendq BYTES                   Most bytes in the send queue of a connection; beyond them it is closed
                                      [default: 1048576]
      --nodelay true|false            TCP_NODELAY on every connection [default: true]
      --registration-timeout SECONDS  How long a connection may take to register [default: 30]
      --half-open-max N               Most connections that have not registered [default: 4096]
      --json                          Print the ready line as JSON
      --help                          Print this help
`;

// An error with a message for the user, printed without a stack trace.
export class StartupError extends Error {}

const OPTIONS = {
  workload: { type: 'string' },
  listen: { type: 'string' },
  sendq: { type: 'string' },
  nodelay: { type: 'string' },
  'registration-timeout': { type: 'string' },
  'half-open-max': { type: 'string' },
  json: { type: 'boolean' },
  help: { type: 'boolean' },
};

// Returns { help, json, workload, host, port, sendqBytes, nodelay, registrationTimeoutMs, halfOpenMax }; throws StartupError.
export function parseOptions(args) {
  const values = parse(args);
  const { host, port } = address(values.listen ?? '127.0.0.1:6667');
  return {
    help: values.help ?? false,
    json: values.json ?? false,
    workload: workload(values.workload ?? 'chat'),
    host,
    port,
    sendqBytes: number(values, 'sendq', 4096, 1 << 30, 1 << 20),
    nodelay: boolean(values, 'nodelay', true),
    registrationTimeoutMs: 1000 * number(values, 'registration-timeout', 1, 86_400, 30),
    halfOpenMax: number(values, 'half-open-max', 1, 1 << 20, 4096),
  };
}

function parse(args) {
  try {
    return parseArgs({ args, options: OPTIONS }).values;
  } catch (error) {
    throw new StartupError(`${error.message.split('. ')[0]}; try --help`);
  }
}

function workload(name) {
  if (!WORKLOADS.includes(name)) {
    throw new StartupError(`--workload must be ${WORKLOADS.join(' or ')}, got ${name}; try --help`);
  }
  return name;
}

function address(listen) {
  const [, host, port] = /^(\[[^\]]+\]|[^:]+):(\d+)$/.exec(listen) ?? [];
  if (host === undefined) {
    throw new StartupError(`--listen must be HOST:PORT, like 127.0.0.1:6667, got ${listen}; try --help`);
  }
  if (Number(port) > 65_535) {
    throw new StartupError(`port must be 0..=65535, got ${port}; try --help`);
  }
  return { host: host.replace(/[[\]]/g, ''), port: Number(port) };
}

function boolean(values, name, fallback) {
  const text = values[name] ?? String(fallback);
  if (text !== 'true' && text !== 'false') {
    throw new StartupError(`--${name} must be true or false, got ${text}; try --help`);
  }
  return text === 'true';
}

function number(values, name, least, most, fallback) {
  const text = values[name] ?? String(fallback);
  const value = /^\d+$/.test(text) ? Number(text) : NaN;
  if (!(value >= least && value <= most)) {
    throw new StartupError(`--${name} must be ${least}..=${most}, got ${text}; try --help`);
  }
  return value;
}
