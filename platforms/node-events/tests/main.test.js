// The server as a child process.

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import net from 'node:net';
import readline from 'node:readline';
import { buffer } from 'node:stream/consumers';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { USAGE } from '../options.js';
import { readyLine, VERSION } from '../ready.js';
import { Client } from './client.js';

const MAIN = fileURLToPath(new URL('../main.js', import.meta.url));

// Starts a server with a limit of open files. Returns the process, its ready line and its standard error.
async function start(files, ...args) {
  const script = `ulimit -n ${files} && exec "$0" "$@"`;
  const child = spawn('sh', ['-c', script, process.execPath, MAIN, '--listen', '127.0.0.1:0', ...args]);
  const errors = [];
  child.stderr.on('data', (text) => errors.push(text));
  const [ready] = await once(readline.createInterface({ input: child.stdout }), 'line');
  return { child, ready, errors };
}

test('prints the ready line and stops on a signal', { timeout: 120_000 }, async () => {
  for (const signal of ['SIGTERM', 'SIGINT']) {
    const { child, ready, errors } = await start(200, '--json');
    const { port, ...rest } = JSON.parse(ready);
    assert.deepEqual(rest, {
      event: 'ready',
      host: '127.0.0.1',
      pid: child.pid,
      model: 'events',
      class: 'classic',
      version: VERSION,
      runtime: process.version,
    });
    const ann = await Client.user(port, 'ann');
    child.kill(signal);
    assert.deepEqual(await once(child, 'close'), [0, null]);
    assert.equal(errors.join(''), '');
    await ann.expectEnd();
  }
});

test('open connections are served at the file limit', { timeout: 120_000 }, async () => {
  const { child, ready, errors } = await start(100);
  const port = Number(/^ready: events \(classic\) on 127\.0\.0\.1:(\d+), pid \d+$/.exec(ready)[1]);
  const ann = await Client.user(port, 'ann');
  const others = [];
  for (let number = 0; number < 80; number += 1) {
    others.push(await Client.connect(port));
  }
  await others[79].expectEnd(); // closed: the limit is 60 connections
  await ann.ping();
  others.forEach((other) => other.socket.destroy());
  child.kill();
  await once(child, 'close');
  ann.socket.destroy();
  const reports = errors.join('').match(/cannot accept more than 60 connections: the limit of open files is 100; raise it/g);
  assert.equal(reports.length, 1);
});

test('invalid options are reported', { timeout: 120_000 }, async () => {
  const { child, ready } = await start(200);
  const [used] = /127\.0\.0\.1:\d+/.exec(ready);
  for (const [args, expected] of [
    [['--listen', used], `cannot listen on ${used}: address already in use; stop the other program or choose another`],
    [['--listen', 'nonsense'], '--listen must be HOST:PORT, like 127.0.0.1:6667, got nonsense'],
    [['--listen', ':6667'], '--listen must be HOST:PORT, like 127.0.0.1:6667, got :6667'],
    [['--listen', '127.0.0.1:99999'], 'port must be 0 to 65535, got 99999'],
    [['--listen', '192.0.2.1:6667'], 'this machine does not have that address; choose one that it has'],
    [['--sendq', '100'], '--sendq must be 4096 to 1073741824, got 100; try --help'],
    [['--nodelay', 'no'], '--nodelay must be true or false, got no; try --help'],
    [['--registration-timeout', '0'], '--registration-timeout must be 1 to 86400, got 0'],
    [['--half-open-max', 'many'], '--half-open-max must be 1 to 1048576, got many'],
    [['--workload', 'ftp'], '--workload must be chat, '],
    [['--workload', 'rr', '--coalesce'], "Unknown option '--coalesce'; try --help"],
    [['--workload', 'web', '--directories', '0'], '--directories must be 1 to 100000, got 0; try --help'],
    [['--workload', 'web', '--content-seed', '18446744073709551616'], '--content-seed must be 0 to 18446744073709551615'],
    [['--workload', 'rr', '--directories', '25'], '--directories belongs to --workload web, not to rr; try --help'],
    [['--content-seed', '1'], '--content-seed belongs to --workload web, not to chat; try --help'],
    [['--http2'], '--http2 belongs to --workload web, not to chat; try --help'],
    [['--key', 'k.pem'], '--certificate and --key belong together; try --help'],
    [['--certificate', 'no.pem', '--key', 'no.pem'], 'cannot read no.pem: ENOENT'],
    [['--certificate', MAIN, '--key', MAIN], `cannot use the certificate ${MAIN} with the key ${MAIN}: `],
    [['--sendq'], "Option '--sendq <value>' argument missing; try --help"],
    [['--model', 'threads'], "Unknown option '--model'; try --help"],
    [['now'], "Unexpected argument 'now'"],
  ]) {
    const { status, stdout, stderr } = spawnSync(process.execPath, [MAIN, ...args], { encoding: 'utf8' });
    assert.equal(status, 2, stderr);
    assert.equal(stdout, '');
    assert.ok(/^node-events: [^\n]+\n$/.test(stderr) && stderr.includes(expected), stderr);
  }
  child.kill();
  await once(child, 'close');
});

test('help is printed', () => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [MAIN, '--help'], { encoding: 'utf8' });
  assert.deepEqual({ status, stdout, stderr }, { status: 0, stdout: USAGE, stderr: '' });
});

test('the ready line as text', () => {
  const line = readyLine({ json: false, workload: 'chat' }, { address: '::1', family: 'IPv6', port: 6667 }, 7);
  assert.equal(line, 'ready: events (classic) on [::1]:6667, pid 7');
});

test('the ready line of other workloads has no class', () => {
  const address = { address: '127.0.0.1', family: 'IPv4', port: 6667 };
  for (const workload of ['rr', 'web']) {
    assert.equal(readyLine({ json: false, workload }, address, 7), 'ready: events on 127.0.0.1:6667, pid 7');
    assert.deepEqual(JSON.parse(readyLine({ json: true, workload }, address, 7)), {
      event: 'ready',
      host: '127.0.0.1',
      port: 6667,
      pid: 7,
      model: 'events',
      version: VERSION,
      runtime: process.version,
    });
  }
});

test('the echo service is served as a process', { timeout: 120_000 }, async () => {
  const { child, ready } = await start(200, '--workload', 'rr');
  const port = Number(/^ready: events on 127\.0\.0\.1:(\d+), pid \d+$/.exec(ready)[1]);
  const bytes = Buffer.from([13, 10, 0, 255]);
  const client = net.connect({ port, host: '127.0.0.1' });
  client.end(bytes);
  assert.deepEqual(await buffer(client), bytes);
  child.kill();
  assert.deepEqual(await once(child, 'close'), [0, null]);
});

test('a site is served as a process', { timeout: 120_000 }, async () => {
  const seed = '18446744073709551615';
  const { child, ready, errors } = await start(200, '--workload', 'web', '--directories', '3', '--content-seed', seed);
  const [, address] = /^ready: events on (127\.0\.0\.1:\d+), pid \d+$/.exec(ready);
  for (const [directory, status] of [200, 200, 200, 404].entries()) {
    const reply = await fetch(`http://${address}/file_set/dir0000${directory}/class0_0`);
    assert.equal(reply.status, status);
    assert.equal((await reply.arrayBuffer()).byteLength, status === 200 ? 102 : '404 Not Found\n'.length);
  }
  child.kill();
  assert.deepEqual(await once(child, 'close'), [0, null]);
  assert.equal(errors.join(''), '');
});

test('the version is that of the workspace', () => {
  const manifest = readFileSync(new URL('../../../Cargo.toml', import.meta.url), 'utf8');
  assert.ok(manifest.includes(`\n[workspace.package]\nversion = "${VERSION}"\n`), VERSION);
});
