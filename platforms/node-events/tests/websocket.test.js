// The chat over the module ws, as a process. Needs that module: apt-get install node-ws.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import net from 'node:net';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const WebSocket = createRequire(import.meta.url)('/usr/share/nodejs/ws');
const program = fileURLToPath(new URL('../websocket.js', import.meta.url));
const env = { ...process.env, NODE_PATH: '/usr/share/nodejs' };

let server;
let url;

before(async () => {
  server = spawn(process.execPath, [program, '--listen', '127.0.0.1:0'], { env });
  const [line] = await once(server.stdout, 'data');
  url = `ws://127.0.0.1:${JSON.parse(line).port}/`;
});

after(() => server.kill());

// A client whose messages wait in a list.
async function connect(subprotocols) {
  const socket = new WebSocket(url, subprotocols, { perMessageDeflate: false });
  const received = [];
  let wake = () => {};
  socket.on('message', (data, isBinary) => {
    received.push({ text: data.toString(), isBinary });
    wake();
  });
  await once(socket, 'open');
  const until = async (part) => {
    for (;;) {
      const message = received.shift();
      if (message?.text.includes(part)) {
        return message;
      }
      if (message === undefined) {
        await new Promise((resolve) => {
          wake = resolve;
        });
      }
    }
  };
  return { socket, until };
}

async function join(nick, subprotocols) {
  const client = await connect(subprotocols);
  for (const line of [`NICK ${nick}`, `USER ${nick} 0 * :${nick}`, 'JOIN #a']) {
    client.socket.send(line);
  }
  await client.until(' 366 ');
  return client;
}

test('users of both subprotocols and of none talk, one line a message', async () => {
  const ann = await join('ann', ['text.ircv3.net']);
  const bob = await join('bob', ['unknown', 'binary.ircv3.net', 'text.ircv3.net']);
  const cat = await join('cat', []);
  assert.deepEqual([ann, bob, cat].map((one) => one.socket.protocol), ['text.ircv3.net', 'binary.ircv3.net', '']);
  ann.socket.send('PRIVMSG #a :hello');
  const line = ':ann!ann@127.0.0.1 PRIVMSG #a :hello';
  assert.deepEqual(await bob.until('PRIVMSG'), { text: line, isBinary: true });
  assert.deepEqual(await cat.until('PRIVMSG'), { text: line, isBinary: false });
  bob.socket.send(Buffer.from('PRIVMSG #a :not \xff UTF-8', 'latin1'), { binary: true });
  assert.equal((await ann.until('PRIVMSG')).text, ':bob!bob@127.0.0.1 PRIVMSG #a :not \ufffd UTF-8');
  cat.socket.send('QUIT :bye');
  assert.equal((await once(cat.socket, 'close'))[0], 1000);
  await ann.until('QUIT :Quit: bye');
});

test('a line break within a message and a message that is too large close the connection', async () => {
  for (const [message, code] of [['PING x\r\nQUIT', 1008], ['x'.repeat(16 * 1024 + 1), 1009]]) {
    const { socket } = await connect(['text.ircv3.net']);
    socket.send(message);
    assert.equal((await once(socket, 'close'))[0], code);
  }
});

test('clients that are reset after their upgrade end alone', async () => {
  const upgrade =
    'GET / HTTP/1.1\r\nHost: h\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n' +
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n';
  const { hostname: host, port } = new URL(url);
  // Many at once: of some the server sees the reset between the request and the connection.
  for (let round = 0; round < 20; round += 1) {
    const sockets = Array.from({ length: 50 }, () => net.connect({ host, port }));
    await Promise.all(sockets.map((socket) => once(socket, 'connect')));
    await Promise.all(sockets.map((socket) => new Promise((written) => socket.write(upgrade, written))));
    sockets.forEach((socket) => socket.resetAndDestroy());
    await Promise.all(sockets.map((socket) => once(socket, 'close')));
  }
  const last = await join('last', ['text.ircv3.net']);
  last.socket.close();
  assert.equal(server.exitCode, null);
});
