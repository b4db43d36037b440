#!/usr/bin/env node
// Klatch's server in Node: one event loop. Workload chat has one write call for each delivery, and workload rr one for
// each read. Workload web runs on node:http. The contract is docs/reference/protocol.md.

import { parseOptions, PROGRAM, StartupError, USAGE } from './options.js';
import { readyLine } from './ready.js';
import { serve } from './server.js';

for (const signal of ['SIGTERM', 'SIGINT']) {
  process.on(signal, () => process.exit(0));
}

try {
  const options = parseOptions(process.argv.slice(2));
  if (options.help) {
    process.stdout.write(USAGE);
  } else {
    const server = await serve(options, console.error);
    console.log(readyLine(options, server.address(), process.pid));
  }
} catch (error) {
  if (!(error instanceof StartupError)) {
    throw error;
  }
  console.error(`${PROGRAM}: ${error.message}`);
  process.exitCode = 2;
}
