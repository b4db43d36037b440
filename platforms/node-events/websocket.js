#!/usr/bin/env node
// The chat of Klatch's server in Node over the module ws: IRC over WebSocket, one line a message, as IRCv3 specifies it. Class
// open: while a socket is busy, Node puts waiting frames into one writev.

import { isUtf8 } from 'node:buffer';
import http from 'node:http';
import { createRequire } from 'node:module';
import { ServerState } from './chat/state.js';
import { parseOptions, StartupError } from './options.js';
import { VERSION } from './ready.js';

const PROGRAM = 'node-ws';
// The kernel reduces it to net.core.somaxconn. A crowd connects all users at once.
const BACKLOG = 65_535;
// In the order of preference of a client that asks for both.
const SUBPROTOCOLS = ['text.ircv3.net', 'binary.ircv3.net'];
const MESSAGE_BYTES_MAX = 16 * 1024;
// Close codes of RFC 6455.
const NORMAL = 1000;
const POLICY_VIOLATION = 1008;
const CHECK_INTERVAL_MS = 1000;
const CRLF = Buffer.from('\r\n');

function loadModule() {
  try {
    // Node's own loader of modules looks in NODE_PATH for these only.
    return createRequire(import.meta.url)('ws');
  } catch {
    throw new StartupError('the module ws is not installed; install it: apt-get install node-ws');
  }
}

// Whether a connection takes lines: it is open, and its queue is within its limit.
function isOpen(socket, options) {
  return socket.readyState === socket.OPEN && socket.bufferedAmount <= options.sendqBytes;
}

// Serves one connection.
function serve(socket, request, state, options) {
  const isText = socket.protocol !== SUBPROTOCOLS[1];
  const timer = setTimeout(() => socket.terminate(), options.registrationTimeoutMs);
  const send = (line) => {
    if (socket.bufferedAmount > options.sendqBytes) {
      socket.terminate();
      return;
    }
    // A line has its CR LF, which a message has not.
    const message = line.subarray(0, line.length - 2);
    // What is not UTF-8 is replaced in a text.
    socket.send(isText && !isUtf8(message) ? message.toString() : message, { binary: !isText });
  };
  // A client that has reset the connection after its upgrade has no address any more.
  const host = request.socket.remoteAddress?.replace(/^::ffff:/, '') ?? 'gone';
  const session = state.openSession(host, send, () => isOpen(socket, options));
  socket.on('message', (message) => {
    if (message.includes('\n') || message.includes('\r')) {
      session.hangUp('A message is one line');
      socket.close(POLICY_VIOLATION, 'a message is one line, without its end');
      return;
    }
    session.feed(Buffer.concat([message, CRLF]));
    if (session.registered) {
      clearTimeout(timer);
    }
    if (!session.open) {
      socket.close(NORMAL);
    }
  });
  socket.on('error', () => session.hangUp('Protocol error')); // ws closes it with the right code
  socket.on('close', () => {
    clearTimeout(timer);
    session.hangUp('Connection closed');
  });
}

function start(options) {
  const { WebSocketServer } = loadModule();
  const state = new ServerState({
    name: 'klatch.localhost',
    version: `klatch-${VERSION}`,
    created: new Date().toISOString().slice(0, 10),
    network: 'Klatch',
    motd: ['Come in and talk.'],
  });
  // The time for a handshake is that for a registration.
  const limits = {
    headersTimeout: options.registrationTimeoutMs,
    requestTimeout: options.registrationTimeoutMs,
    connectionsCheckingInterval: CHECK_INTERVAL_MS,
  };
  const server = http.createServer({ noDelay: options.nodelay, ...limits });
  const sockets = new WebSocketServer({
    server,
    perMessageDeflate: false,
    maxPayload: MESSAGE_BYTES_MAX,
    handleProtocols: (asked) => [...asked].find((name) => SUBPROTOCOLS.includes(name)) ?? false,
  });
  sockets.on('connection', (socket, request) => serve(socket, request, state, options));
  return new Promise((resolve, reject) => {
    // The module passes errors of the HTTP server on.
    // Of a later one, such as a failed accept, the connections that are open must not die.
    sockets.on('error', (error) => reject(new StartupError(`cannot listen on ${options.host}:${options.port}: ${error.message}`)));
    server.listen({ host: options.host, port: options.port, backlog: BACKLOG }, () => resolve(server));
  });
}

for (const signal of ['SIGTERM', 'SIGINT']) {
  process.on(signal, () => process.exit(0));
}

try {
  const options = parseOptions(process.argv.slice(2));
  const { address, port } = (await start(options)).address();
  const ready = { event: 'ready', host: address, port, pid: process.pid, model: 'ws', class: 'open', version: VERSION };
  console.log(JSON.stringify({ ...ready, runtime: process.version }));
} catch (error) {
  if (!(error instanceof StartupError)) {
    throw error;
  }
  console.error(`${PROGRAM}: ${error.message}`);
  process.exitCode = 2;
}
