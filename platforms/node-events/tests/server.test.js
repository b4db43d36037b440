import assert from 'node:assert/strict';
import { once } from 'node:events';
import test from 'node:test';
import { parseOptions } from '../options.js';
import { serve } from '../server.js';
import { Client } from './client.js';

// A test over sockets: serves with some options, and closes everybody's connection at the end.
function served(name, args, play) {
  test(name, { timeout: 120_000 }, async () => {
    const options = parseOptions(['--listen', '127.0.0.1:0', ...args]);
    const server = await serve(options, assert.fail);
    const clients = [];
    const there = {
      connect: async () => clients[clients.push(await Client.connect(server.address().port)) - 1],
      user: async (...who) => clients[clients.push(await Client.user(server.address().port, ...who)) - 1],
    };
    try {
      await play(there);
    } finally {
      server.close();
      clients.forEach((client) => client.socket.destroy());
    }
    await once(server, 'close');
  });
}

served('users join, talk and leave', [], async (there) => {
  const ann = await there.user('ann', '#a');
  const bob = await there.user('bob', '#a');
  await ann.expect(':bob!bob@127.0.0.1 JOIN #a');
  ann.say('PRIVMSG #a :hello');
  await bob.expect(':ann!ann@127.0.0.1 PRIVMSG #a :hello');
  // Bytes that come after QUIT are not read, and must not cost the last words.
  bob.say('QUIT :bye\r\nPING x');
  await bob.expect('ERROR :Closing link: (Quit: bye)');
  await bob.expectEnd();
  await ann.expect(':bob!bob@127.0.0.1 QUIT :Quit: bye');
});

served('everybody gets everything in order', [], async (there) => {
  const [users, messages] = [8, 300];
  const clients = [];
  for (let number = 0; number < users; number += 1) {
    clients.push(await there.user(`u${number}`, '#a'));
  }
  for (const client of clients) {
    await client.ping(); // has heard everybody come
  }
  for (let number = 0; number < messages; number += 1) {
    clients.forEach((client) => client.say(`PRIVMSG #a :${number}`));
  }
  const listen = async (client) => {
    const next = new Map();
    for (let heard = 0; heard < messages * (users - 1); heard += 1) {
      const [speaker, text] = (await client.hear()).split(' PRIVMSG #a :');
      assert.equal(Number(text), next.get(speaker) ?? 0, speaker);
      next.set(speaker, Number(text) + 1);
    }
  };
  await Promise.all(clients.map(listen));
});

const batch = `${`PRIVMSG #a :${'x'.repeat(400)}\r\n`.repeat(100)}PRIVMSG #a :step`;

// Talks to a room where somebody does not read, until the listener, who is never far behind, hears what is waited for.
async function talkUntil(text, talker, listener) {
  for (;;) {
    talker.say(batch);
    for (let line = ''; !line.endsWith(':step'); ) {
      line = await listener.hear();
      if (line.includes(text)) {
        return line;
      }
    }
  }
}

served('a slow reader is closed, and nobody else notices', ['--sendq', '65536'], async (there) => {
  const slow = await there.user('slow', '#a');
  slow.socket.pause();
  const talker = await there.user('talker', '#a');
  const listener = await there.user('listener', '#a');
  const quit = await talkUntil(' QUIT ', talker, listener);
  assert.equal(quit, ':slow!slow@127.0.0.1 QUIT :SendQ exceeded');
  slow.socket.resume();
  assert.equal(await slow.hearUntil('ERROR '), 'ERROR :Closing link: (SendQ exceeded)');
  await slow.expectEnd();
  await talker.ping();
});

served('a reader who was slow, but not too slow, gets everything in order', ['--sendq', '33554432'], async (there) => {
  const slow = await there.user('slow', '#a');
  slow.socket.pause();
  const talker = await there.user('talker', '#a');
  const messages = 25_000; // more than the kernel's buffers hold
  for (let number = 0; number < messages; number += 1) {
    talker.say(`PRIVMSG #a :${number} ${'x'.repeat(400)}`);
  }
  await talker.ping();
  slow.socket.resume();
  await slow.hearUntil(' JOIN ');
  for (let number = 0; number < messages; number += 1) {
    const line = await slow.hear();
    assert.ok(line.startsWith(`:talker!talker@127.0.0.1 PRIVMSG #a :${number} x`), `${number}: ${line}`);
  }
});

served('unregistered connections are limited', ['--half-open-max', '3'], async (there) => {
  const ann = await there.user('ann');
  const idle = [await there.connect(), await there.connect(), await there.connect()];
  for (const client of idle) {
    await client.ping();
  }
  for (let number = 0; number < 20; number += 1) {
    const refused = await there.connect();
    await refused.expect('ERROR :Too many unregistered connections');
    await refused.expectEnd();
  }
  await ann.ping();
  // Who registers makes room for another, and so does who leaves.
  await idle[0].register('bob');
  const another = await there.connect();
  await another.ping();
  another.say('QUIT');
  await another.expect('ERROR :Closing link: (Quit)');
  await another.expectEnd();
  await there.user('cid');
});

served('registration has a limited time', ['--registration-timeout', '1'], async (there) => {
  const ann = await there.user('ann');
  const silent = await there.connect();
  const half = await there.connect();
  half.say('NICK half\r\nCAP LS');
  await half.hearUntil(' CAP ');
  for (const late of [silent, half]) {
    await late.expect('ERROR :Closing link: (Registration timed out)');
    await late.expectEnd();
  }
  await ann.ping();
  await there.user('half');
});

served('broken and half-closed connections are seen to quit', [], async (there) => {
  const ann = await there.user('ann', '#a');
  const bob = await there.user('bob', '#a');
  bob.socket.resetAndDestroy();
  await ann.hearUntil(':bob!bob@127.0.0.1 QUIT :Connection reset');
  const cid = await there.user('cid', '#a');
  cid.say('PING last');
  cid.socket.end();
  await cid.expect(':klatch.localhost PONG klatch.localhost :last');
  await cid.expectEnd();
  await ann.hearUntil(':cid!cid@127.0.0.1 QUIT :Connection closed');
});

served('a NUL ends one session only, and a line that is too long none', [], async (there) => {
  const ann = await there.user('ann', '#a');
  const bob = await there.user('bob', '#a');
  bob.say('PRIVMSG #a :x\0y');
  await bob.expect('ERROR :Closing link: (NUL in input)');
  await bob.expectEnd();
  await ann.hearUntil(':bob!bob@127.0.0.1 QUIT :NUL in input');
  ann.say(`PRIVMSG #a :${'y'.repeat(600)}`);
  await ann.expect(':klatch.localhost 417 ann :Input line was too long');
  await ann.ping();
});

served('a thousand come and go', [], async (there) => {
  const ann = await there.user('ann');
  for (let number = 0; number < 1000; number += 1) {
    const guest = await there.connect();
    guest.say(`NICK g${number}\r\nUSER g 0 * :g\r\nJOIN #g${number}`);
    guest.socket.destroySoon();
  }
  for (;;) { // until the last of them is gone
    ann.say('LUSERS');
    const [users, rooms] = [await ann.hearUntil(' 251 '), await ann.hearUntil(' 254 ')];
    if (users.includes(' 0 users and 1 invisible ') && rooms.endsWith(' 0 :channels formed')) {
      return;
    }
  }
});
