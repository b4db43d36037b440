import assert from 'node:assert/strict';
import { randomBytes, randomInt } from 'node:crypto';
import { once } from 'node:events';
import net from 'node:net';
import { buffer } from 'node:stream/consumers';
import test from 'node:test';
import { parseOptions } from '../options.js';
import { serve } from '../server.js';

const MIB = 1 << 20;

// Defines a test of the echo service. play gets a function that connects a client, and the net.Server.
function echoTest(name, args, play) {
  test(name, { timeout: 120_000 }, async () => {
    const server = await serve(parseOptions(['--workload', 'rr', '--listen', '127.0.0.1:0', ...args]), assert.fail);
    const clients = [];
    const connect = async () => {
      const client = net.connect({ port: server.address().port, host: '127.0.0.1', allowHalfOpen: true });
      clients.push(client);
      await once(client, 'connect');
      return client;
    };
    try {
      await play(connect, server);
    } finally {
      server.close();
      clients.forEach((client) => client.destroy());
    }
    await once(server, 'close');
  });
}

// Reads count bytes, at most pieceMax at a time.
async function receive(client, count, pieceMax) {
  const pieces = [];
  for (let left = count; left > 0; ) {
    const piece = client.read(Math.min(left, pieceMax, client.readableLength || 1));
    if (piece) {
      pieces.push(piece);
      left -= piece.length;
    } else {
      assert.ok(!client.readableEnded && !client.destroyed, `the connection ended ${left} bytes early`);
      await once(client, 'readable');
    }
  }
  return Buffer.concat(pieces);
}

async function expectEcho(client, bytes) {
  client.write(bytes);
  assert.ok((await receive(client, bytes.length, MIB)).equals(bytes));
}

echoTest('every connection gets back its own bytes', [], async (connect) => {
  const play = async () => {
    const client = await connect();
    const bytes = randomBytes(200_000);
    const received = receive(client, bytes.length, MIB);
    for (let at = 0; at < bytes.length; ) {
      const end = at + randomInt(1, 3000);
      await new Promise((written) => client.write(bytes.subarray(at, end), written));
      at = end;
    }
    assert.ok((await received).equals(bytes));
  };
  await Promise.all(Array.from({ length: 6 }, play));
});

echoTest('a half-closed connection gets all its bytes and then ends', [], async (connect) => {
  const client = await connect();
  const bytes = randomBytes(MIB);
  client.end(bytes);
  assert.ok((await buffer(client)).equals(bytes));
});

echoTest('one mebibyte at once reaches a slow reader', [], async (connect) => {
  const client = await connect();
  const bytes = randomBytes(MIB);
  client.write(bytes);
  assert.ok((await receive(client, bytes.length, 1000)).equals(bytes));
});

echoTest('a server reads no more than its client does', [], async (connect, server) => {
  const accepted = once(server, 'connection');
  const client = await connect();
  const [socket] = await accepted;
  const paused = new Promise((resolve) => socket.once('pause', () => resolve('paused')));
  const chunk = randomBytes(MIB);
  let sent = 0;
  // The client does not read. The buffers of the kernel (tcp_rmem and tcp_wmem) take less than 64 MiB.
  for (let end = ''; end !== 'paused'; sent += chunk.length) {
    assert.ok(sent < 64 * MIB, 'the server never stopped reading');
    end = await Promise.race([paused, new Promise((written) => client.write(chunk, () => written('written')))]);
  }
  assert.ok(socket.writableLength < MIB, `${socket.writableLength} bytes are queued`);
  client.end();
  let received = 0;
  for await (const piece of client) {
    received += piece.length;
  }
  assert.equal(received, sent);
});

echoTest('a reset ends one connection only', [], async (connect, server) => {
  const stays = await connect();
  await expectEcho(stays, Buffer.from('ping'));
  for (let i = 0; i < 3; i += 1) {
    const accepted = once(server, 'connection');
    const leaves = await connect();
    const [socket] = await accepted;
    const closed = new Promise((resolve) => socket.once('close', resolve)); // also after an error
    await expectEcho(leaves, Buffer.from('ping'));
    leaves.write(randomBytes(20_000)); // reset while it is echoed
    leaves.resetAndDestroy();
    await closed;
    await expectEcho(stays, Buffer.from('ping'));
  }
});

echoTest('connections are not half-open', ['--half-open-max', '1'], async (connect) => {
  for (const client of [await connect(), await connect(), await connect()]) {
    await expectEcho(client, Buffer.from('ping'));
  }
});
