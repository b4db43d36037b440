// The listening socket and the limits on new connections.

import { readFileSync } from 'node:fs';
import net from 'node:net';
import tls from 'node:tls';
import { ServerState } from './chat/state.js';
import { Connection, LINGER_MS } from './connection.js';
import { echo } from './echo.js';
import { PROGRAM, StartupError } from './options.js';
import { VERSION } from './ready.js';
import { http2SiteServer, siteServer } from './site/server.js';

// The kernel reduces it to net.core.somaxconn. A crowd connects all users at once.
const BACKLOG = 65_535;
// Descriptors reserved for Node itself.
const OWN_FILES = 40;

// Listens as configured. Resolves to the net.Server; rejects with StartupError. log receives later errors.
export async function serve(options, log) {
  const server = options.workload === 'web' ? webServer(options) : socketServer(options);
  limitConnections(server, log);
  return new Promise((resolve, reject) => {
    server.once('error', (error) => reject(new StartupError(explain(error, options))));
    server.listen({ host: options.host, port: options.port, backlog: BACKLOG }, () => {
      // A failed accept must not end the connections that are open.
      server.on('error', (error) => log(`${PROGRAM}: cannot accept a connection: ${error.message}`));
      resolve(server);
    });
  });
}

function webServer(options) {
  const newServer = options.http2 ? http2SiteServer : siteServer;
  return newServer(options, tlsSettings(options));
}

function socketServer(options) {
  const settings = { allowHalfOpen: true, noDelay: options.nodelay };
  const overTls = tlsSettings(options);
  const server = overTls ? tls.createServer({ ...settings, ...overTls }) : net.createServer(settings);
  server.on(overTls ? 'secureConnection' : 'connection', options.workload === 'rr' ? echo(options) : chat(options));
  return server;
}

// Returns what Node takes for TLS; undefined without TLS.
function tlsSettings(options) {
  if (options.certificate === undefined) {
    return undefined;
  }
  return { ...certificate(options), minVersion: 'TLSv1.3', handshakeTimeout: options.registrationTimeoutMs };
}

// Returns { cert, key } as Node takes them; throws StartupError.
function certificate(options) {
  const read = (path) => {
    try {
      return readFileSync(path);
    } catch (error) {
      throw new StartupError(`cannot read ${path}: ${error.message}`);
    }
  };
  const pair = { cert: read(options.certificate), key: read(options.key) };
  try {
    tls.createSecureContext(pair);
  } catch (error) {
    throw new StartupError(
      `cannot use the certificate ${options.certificate} with the key ${options.key}: ${error.message}`,
    );
  }
  return pair;
}

// Returns the handler of new connections to a chat server.
function chat(options) {
  const state = new ServerState({
    name: 'klatch.localhost',
    version: `klatch-${VERSION}`,
    created: new Date().toISOString().slice(0, 10),
    network: 'Klatch',
    motd: ['Come in and talk.'],
  });
  let halfOpen = 0; // connections that have not registered
  return (socket) => {
    if (halfOpen >= options.halfOpenMax) {
      rejectConnection(socket);
      return;
    }
    halfOpen += 1;
    new Connection(socket, state, options, () => {
      halfOpen -= 1;
    });
  };
}

function rejectConnection(socket) {
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.on('close', () => clearTimeout(timer));
  socket.on('error', () => {}); // the client has closed it already
  socket.resume();
  socket.end('ERROR :Too many unregistered connections\r\n');
}

// Without free descriptors Node closes new connections silently, so a limit just below reports them.
function limitConnections(server, log) {
  const files = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1'))?.[1];
  if (files === undefined) {
    return; // unlimited
  }
  server.maxConnections = Math.max(1, Number(files) - OWN_FILES);
  server.once('drop', () => {
    log(
      `${PROGRAM}: cannot accept more than ${server.maxConnections} connections: the limit of open files is ${files}; ` +
        'raise it before the start (`ulimit -Hn` as root, LimitNOFILE= in a unit)',
    );
  });
}

function explain(error, { host, port }) {
  const advice = {
    EADDRINUSE: 'address already in use; stop the other program or choose another port with --listen',
    EACCES: 'permission denied; choose a port above 1023 with --listen',
    EADDRNOTAVAIL: 'this machine does not have that address; choose one that it has with --listen',
  };
  const why = advice[error.code] ?? `${error.message}; give an address and a port, like 127.0.0.1:6667`;
  return `cannot listen on ${net.isIPv6(host) ? `[${host}]` : host}:${port}: ${why}`;
}
