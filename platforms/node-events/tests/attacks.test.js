// What a client can do to the server and its other clients: nothing that lasts.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import net from 'node:net';
import test from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { PostLog, POSTS_MAX } from '../site/post-log.js';
import { parseOptions } from '../options.js';
import { serve } from '../server.js';

// Time that a client has for what it must do. Short, so that a test can wait for its end.
const PATIENCE_MS = 300;
const SMALL = 'GET /file_set/dir00000/class0_0 HTTP/1.1\r\nHost: h\r\n\r\n';

// Defines a test of a server for a workload. play gets a function that connects a client.
function attackTest(name, args, play) {
  test(name, { timeout: 60_000 }, async () => {
    const options = { ...parseOptions(['--listen', '127.0.0.1:0', ...args]), registrationTimeoutMs: PATIENCE_MS };
    const server = await serve(options, assert.fail);
    const clients = [];
    const connect = async () => {
      const client = net.connect({ port: server.address().port, host: '127.0.0.1' });
      client.on('error', () => {}); // tests check the end instead
      clients.push(client);
      await once(client, 'connect');
      return client;
    };
    try {
      await play(connect);
    } finally {
      server.close();
      clients.forEach((client) => client.destroy());
    }
    await once(server, 'close');
  });
}

// Resolves to all that a client receives until the server closes.
async function received(client) {
  let text = '';
  client.setEncoding('latin1');
  client.on('data', (part) => {
    text += part;
  });
  // A reset is an end as well.
  await new Promise((resolve) => client.on('close', resolve));
  return text;
}

async function expectServed(connect) {
  const client = await connect();
  client.write(SMALL.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'));
  assert.match(await received(client), /^HTTP\/1\.1 200 /);
}

attackTest('an incomplete request is refused after its time', ['--workload', 'web'], async (connect) => {
  const body = 'POST /dynamic HTTP/1.1\r\nHost: h\r\nContent-Length: 50\r\n\r\nurlroot=';
  for (const half of ['GET / HTTP/1.1\r\nHost: h\r\n', body]) {
    const client = await connect();
    client.write(half);
    await expectServed(connect);
    assert.match(await received(client), /^HTTP\/1\.1 408 /, half);
  }
});

attackTest('a request that arrives byte by byte has no more time', ['--workload', 'web'], async (connect) => {
  const client = await connect();
  const end = received(client);
  let isOpen = true;
  end.then(() => {
    isOpen = false;
  });
  client.write('GET / HTTP/1.1\r\nA: ');
  while (isOpen) {
    client.write('a');
    await pause(10);
  }
});

attackTest('a connection may be idle between requests', ['--workload', 'web'], async (connect) => {
  const client = await connect();
  for (let requests = 0; requests < 2; requests += 1) {
    client.write(SMALL);
    const [reply] = await once(client, 'data');
    assert.match(reply.toString(), /^HTTP\/1\.1 200 /);
    await pause(3 * PATIENCE_MS);
  }
});

attackTest('a client of the echo that does not read is closed', ['--workload', 'rr'], async (connect) => {
  const client = await connect();
  client.pause();
  const closed = new Promise((resolve) => client.on('close', resolve));
  const write = () => {
    while (client.write(Buffer.alloc(64 * 1024)));
  };
  client.on('drain', write);
  write();
  // The end is seen only by a client that reads or writes.
  await closed;
});

attackTest('a client of the site that does not read is closed', ['--workload', 'web'], async (connect) => {
  const client = await connect();
  client.pause();
  const closed = new Promise((resolve) => client.on('close', resolve));
  client.write(SMALL.replace('class0_0', 'class3_8').repeat(40));
  await expectServed(connect);
  // The end is seen only by a client that reads or writes.
  const writing = setInterval(() => client.write(SMALL), 20);
  await closed;
  clearInterval(writing);
});

attackTest('a slow client that reads stays', ['--workload', 'web'], async (connect) => {
  const client = await connect();
  const large = SMALL.replace('class0_0', 'class3_8');
  client.write(large.repeat(60));
  // More than the buffers of the kernel, over several times the limit.
  let bytes = 0;
  while (bytes < 60 * 921_600) {
    bytes += client.read()?.length ?? 0;
    await pause(1);
    assert.ok(!client.destroyed, `closed after ${bytes} bytes`);
  }
});

attackTest('resets at any moment end their connection alone', [], async (connect) => {
  const lines = 'NICK a\r\nUSER a 0 * :a\r\nJOIN #a\r\nPRIVMSG #a :x\r\n';
  for (let at = 0; at <= lines.length; at += 1) {
    const client = await connect();
    await new Promise((written) => client.write(lines.slice(0, at), written));
    client.resetAndDestroy();
  }
  const last = await connect();
  last.write('NICK b\r\nUSER b 0 * :b\r\n');
  let text = '';
  while (!text.includes(' 376 ')) {
    text += (await once(last, 'data'))[0];
  }
});

test('a full post log takes no more until it is cleared', () => {
  const log = new PostLog();
  const post = { index: 0, client: 1 };
  for (let posts = 0; posts < POSTS_MAX; posts += 1) {
    assert.ok(log.append(0, post, posts));
  }
  assert.equal(log.append(0, post, 0), false);
  log.clear();
  assert.equal(log.append(0, post, 0), true);
});
