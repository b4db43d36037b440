#!/usr/bin/env node
// Klatch's business applications in Node: one event loop, node:http, and PostgreSQL by pg. The contracts are
// docs/reference/trade.md and docs/reference/orders.md.
//
// It depends on pg because Node programs use it for PostgreSQL, so it is part of what is measured.

import { readFileSync } from 'node:fs';
import http from 'node:http';
import { openBrokerage } from './brokerage/application.js';
import { openCompany } from './company/application.js';
import { parseOptions, PROGRAM, StartupError, USAGE } from './options.js';
import { connect } from './shared/connect.js';
import { Site } from './shared/site.js';

const APPLICATIONS = { trade: openBrokerage, orders: openCompany };

// The kernel reduces it to net.core.somaxconn. A crowd opens all its connections at once.
const BACKLOG = 65_535;
// Time for a request to arrive, ms.
const REQUEST_TIMEOUT_MS = 30_000;

for (const signal of ['SIGTERM', 'SIGINT']) {
  process.on(signal, () => process.exit(0));
}

try {
  const options = parseOptions(process.argv.slice(2));
  if (options.help) {
    process.stdout.write(USAGE);
  } else {
    const database = await connect(options);
    const targets = await APPLICATIONS[options.workload](database, options);
    const server = await listen(new Site(targets, () => database.statistics()), options);
    console.log(readyLine(options, server.address()));
  }
} catch (error) {
  if (!(error instanceof StartupError)) {
    throw error;
  }
  console.error(`${PROGRAM}: ${error.message}`);
  process.exit(2); // the pool may have connections
}

// A connection may be idle between two requests for as long as its client likes. A request has a time limit.
function listen(site, { host, port }) {
  const server = http.createServer({
    keepAliveTimeout: 0,
    headersTimeout: REQUEST_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    connectionsCheckingInterval: 1000,
  });
  server.on('request', (request, response) => site.serve(request, response));
  return new Promise((resolve, reject) => {
    const failed = (error) =>
      reject(new StartupError(`cannot listen on ${host}:${port}: ${error.message}; choose another --listen`));
    server.once('error', failed);
    server.listen({ host, port, backlog: BACKLOG }, () => {
      // A failed accept must not end the connections that are open.
      server.on('error', (error) => console.error(`${PROGRAM}: cannot accept a connection: ${error.message}`));
      resolve(server);
    });
  });
}

function readyLine({ json }, { address, family, port }) {
  const { pid, version: runtime } = process;
  if (!json) {
    return `ready: events on ${family === 'IPv6' ? `[${address}]` : address}:${port}, pid ${pid}`;
  }
  const { version } = JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8'));
  return JSON.stringify({ event: 'ready', host: address, port, pid, model: 'events', version, runtime });
}
