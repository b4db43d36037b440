// The command line.

import { parseArgs } from 'node:util';
import { DIRECTORIES_MAX } from './site/file.js';

export const PROGRAM = 'node-events';

// What the server does with the bytes of its connections.
const WORKLOADS = ['chat', 'rr', 'web'];

export const USAGE = `Klatch's server in Node: one event loop. Workload chat: one write for each delivery (class classic).
Workload rr: an echo of all bytes (RFC 862). Workload web: a web site on node:http.

Usage: node main.js [OPTIONS]

Options:
      --workload chat|rr|web          IRC, an echo of all bytes, or a web site [default: chat]
      --listen HOST:PORT              Address to listen on; port 0 takes a free one [default: 127.0.0.1:6667]
      --sendq BYTES                   Most bytes in the send queue of a connection; beyond them it is closed
                                      [default: 1048576]
      --nodelay true|false            TCP_NODELAY on every connection [default: true]
      --certificate FILE              Speak TLS 1.3, with this certificate chain in PEM
      --key FILE                      The key of the certificate, in PEM
      --http2                         Workload web: speak HTTP/2 alone, on node:http2
      --registration-timeout SECONDS  How long a client may take to register, or to complete a request [default: 30]
      --half-open-max N               Most connections that have not registered [default: 4096]
      --directories N                 Workload web: directories of the site, of 5 MB each [default: 25]
      --content-seed SEED             Workload web: seed of the site's contents [default: 1]
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
  certificate: { type: 'string' },
  key: { type: 'string' },
  http2: { type: 'boolean' },
  'registration-timeout': { type: 'string' },
  'half-open-max': { type: 'string' },
  directories: { type: 'string' },
  'content-seed': { type: 'string' },
  json: { type: 'boolean' },
  help: { type: 'boolean' },
};

// Returns { help, json, workload, host, port, sendqBytes, nodelay, certificate, key, http2, registrationTimeoutMs,
// halfOpenMax, directories, contentSeed }; throws StartupError. The seed is a BigInt; without TLS there is no certificate.
export function parseOptions(args) {
  const values = parse(args);
  rejectOptionsOfOthers(values);
  const { host, port } = address(values.listen ?? '127.0.0.1:6667');
  return {
    help: values.help ?? false,
    json: values.json ?? false,
    workload: workload(values.workload ?? 'chat'),
    host,
    port,
    sendqBytes: number(values, 'sendq', 4096, 1 << 30, 1 << 20),
    nodelay: boolean(values, 'nodelay', true),
    certificate: values.certificate,
    key: values.key,
    http2: values.http2 ?? false,
    registrationTimeoutMs: 1000 * number(values, 'registration-timeout', 1, 86_400, 30),
    halfOpenMax: number(values, 'half-open-max', 1, 1 << 20, 4096),
    directories: number(values, 'directories', 1, DIRECTORIES_MAX, 25),
    contentSeed: seed(values['content-seed'] ?? '1'),
  };
}

function rejectOptionsOfOthers({ workload: name = 'chat', ...values }) {
  const ofSite = ['directories', 'content-seed', 'http2'].find((option) => values[option] !== undefined);
  if (ofSite && name !== 'web') {
    throw new StartupError(`--${ofSite} belongs to --workload web, not to ${name}; try --help`);
  }
  const { certificate, key } = values;
  if ((certificate === undefined) !== (key === undefined)) {
    throw new StartupError('--certificate and --key belong together; try --help');
  }
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
    throw new StartupError(`--workload must be chat, rr or web, got ${name}; try --help`);
  }
  return name;
}

function address(listen) {
  const [, host, port] = /^(\[[^\]]+\]|[^:]+):(\d+)$/.exec(listen) ?? [];
  if (host === undefined) {
    throw new StartupError(`--listen must be HOST:PORT, like 127.0.0.1:6667, got ${listen}; try --help`);
  }
  if (Number(port) > 65_535) {
    throw new StartupError(`port must be 0 to 65535, got ${port}; try --help`);
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
    throw new StartupError(`--${name} must be ${least} to ${most}, got ${text}; try --help`);
  }
  return value;
}

function seed(text) {
  if (!/^\d{1,20}$/.test(text) || BigInt(text) >= 2n ** 64n) {
    throw new StartupError(`--content-seed must be 0 to 18446744073709551615, got ${text}; try --help`);
  }
  return BigInt(text);
}
