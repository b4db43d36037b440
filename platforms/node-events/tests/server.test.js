import assert from 'node:assert/strict';
import { once } from 'node:events';
import test from 'node:test';
import { parseOptions } from '../options.js';
import { serve } from '../server.js';
import { Client } from './client.js';

// Defines a test over sockets: starts a server with some options, and closes all connections at the end.
function serverTest(name, args, play) {
  test(name, { timeout: 120_000 }, async () => {
    const options = parseOptions(['--listen', '127.0.0.1:0', ...args]);
    const server = await serve(options, assert.fail);
    const clients = [];
    const connections = {
      connect: async () => clients[clients.push(await Client.connect(server.address().port)) - 1],
      user: async (...details) => clients[clients.push(await Client.user(server.address().port, ...details)) - 1],
    };
    try {
      await play(connections);
    } finally {
      server.close();
      clients.forEach((client) => client.socket.destroy());
    }
    await once(server, 'close');
  });
}

serverTest('users join, talk and leave', [], async (server) => {
  const ann = await server.user('ann', '#a');
  const bob = await server.user('bob', '#a');
  await ann.expect(':bob!bob@127.0.0.1 JOIN #a');
  ann.send('PRIVMSG #a :hello');
  await bob.expect(':ann!ann@127.0.0.1 PRIVMSG #a :hello');
  // Bytes after QUIT are ignored, and must not cost the client the last line.
  bob.send('QUIT :bye\r\nPING x');
  await bob.expect('ERROR :Closing link: (Quit: bye)');
  await bob.expectEnd();
  await ann.expect(':bob!bob@127.0.0.1 QUIT :Quit: bye');
});

serverTest('every user gets all messages in order', [], async (server) => {
  const [users, messages] = [8, 300];
  const clients = [];
  for (let number = 0; number < users; number += 1) {
    clients.push(await server.user(`u${number}`, '#a'));
  }
  for (const client of clients) {
    await client.ping(); // has received all JOINs
  }
  for (let number = 0; number < messages; number += 1) {
    clients.forEach((client) => client.send(`PRIVMSG #a :${number}`));
  }
  const check = async (client) => {
    const next = new Map();
    for (let received = 0; received < messages * (users - 1); received += 1) {
      const [speaker, text] = (await client.nextLine()).split(' PRIVMSG #a :');
      assert.equal(Number(text), next.get(speaker) ?? 0, speaker);
      next.set(speaker, Number(text) + 1);
    }
  };
  await Promise.all(clients.map(check));
});

const batch = `${`PRIVMSG #a :${'x'.repeat(400)}\r\n`.repeat(100)}PRIVMSG #a :step`;

// Sends to a room with a slow reader until the listener, which reads every batch, gets a line that contains text.
async function sendUntil(text, talker, listener) {
  for (;;) {
    talker.send(batch);
    for (let line = ''; !line.endsWith(':step'); ) {
      line = await listener.nextLine();
      if (line.includes(text)) {
        return line;
      }
    }
  }
}

serverTest('overflow closes only the slow reader', ['--sendq', '65536'], async (server) => {
  const slow = await server.user('slow', '#a');
  slow.socket.pause();
  const talker = await server.user('talker', '#a');
  const listener = await server.user('listener', '#a');
  const quit = await sendUntil(' QUIT ', talker, listener);
  assert.equal(quit, ':slow!slow@127.0.0.1 QUIT :SendQ exceeded');
  slow.socket.resume();
  assert.equal(await slow.skipTo('ERROR '), 'ERROR :Closing link: (SendQ exceeded)');
  await slow.expectEnd();
  await talker.ping();
});

serverTest('a late reader within the limit gets all messages in order', ['--sendq', '33554432'], async (server) => {
  const slow = await server.user('slow', '#a');
  slow.socket.pause();
  const talker = await server.user('talker', '#a');
  const messages = 25_000; // more than the kernel's buffers hold
  for (let number = 0; number < messages; number += 1) {
    talker.send(`PRIVMSG #a :${number} ${'x'.repeat(400)}`);
  }
  await talker.ping();
  slow.socket.resume();
  await slow.skipTo(' JOIN ');
  for (let number = 0; number < messages; number += 1) {
    const line = await slow.nextLine();
    assert.ok(line.startsWith(`:talker!talker@127.0.0.1 PRIVMSG #a :${number} x`), `${number}: ${line}`);
  }
});

serverTest('unregistered connections are limited', ['--half-open-max', '3'], async (server) => {
  const ann = await server.user('ann');
  const idle = [await server.connect(), await server.connect(), await server.connect()];
  for (const client of idle) {
    await client.ping();
  }
  for (let number = 0; number < 20; number += 1) {
    const refused = await server.connect();
    await refused.expect('ERROR :Too many unregistered connections');
    await refused.expectEnd();
  }
  await ann.ping();
  // A registration frees a place, and so does a closed connection.
  await idle[0].register('bob');
  const another = await server.connect();
  await another.ping();
  another.send('QUIT');
  await another.expect('ERROR :Closing link: (Quit)');
  await another.expectEnd();
  await server.user('cid');
});

serverTest('registration times out', ['--registration-timeout', '1'], async (server) => {
  const ann = await server.user('ann');
  const silent = await server.connect();
  const half = await server.connect();
  half.send('NICK half\r\nCAP LS');
  await half.skipTo(' CAP ');
  for (const late of [silent, half]) {
    await late.expect('ERROR :Closing link: (Registration timed out)');
    await late.expectEnd();
  }
  await ann.ping();
  await server.user('half');
});

serverTest('broken and half-closed connections become a QUIT', [], async (server) => {
  const ann = await server.user('ann', '#a');
  const bob = await server.user('bob', '#a');
  bob.socket.resetAndDestroy();
  await ann.skipTo(':bob!bob@127.0.0.1 QUIT :Connection reset');
  const cid = await server.user('cid', '#a');
  cid.send('PING last');
  cid.socket.end();
  await cid.expect(':klatch.localhost PONG klatch.localhost :last');
  await cid.expectEnd();
  await ann.skipTo(':cid!cid@127.0.0.1 QUIT :Connection closed');
});

serverTest('a NUL ends one session only, and a line that is too long none', [], async (server) => {
  const ann = await server.user('ann', '#a');
  const bob = await server.user('bob', '#a');
  bob.send('PRIVMSG #a :x\0y');
  await bob.expect('ERROR :Closing link: (NUL in input)');
  await bob.expectEnd();
  await ann.skipTo(':bob!bob@127.0.0.1 QUIT :NUL in input');
  ann.send(`PRIVMSG #a :${'y'.repeat(600)}`);
  await ann.expect(':klatch.localhost 417 ann :Input line was too long');
  await ann.ping();
});

serverTest('a thousand short connections leave nothing behind', [], async (server) => {
  const ann = await server.user('ann');
  for (let number = 0; number < 1000; number += 1) {
    const guest = await server.connect();
    guest.send(`NICK g${number}\r\nUSER g 0 * :g\r\nJOIN #g${number}`);
    guest.socket.destroySoon();
  }
  for (;;) { // until the server has closed the last one
    ann.send('LUSERS');
    const [users, rooms] = [await ann.skipTo(' 251 '), await ann.skipTo(' 254 ')];
    if (users.includes(' 0 users and 1 invisible ') && rooms.endsWith(' 0 :channels formed')) {
      return;
    }
  }
});
