// An IRC client over a real socket.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import net from 'node:net';
import readline from 'node:readline';

export class Client {
  #lines;

  static async connect(port) {
    const client = new Client();
    client.socket = net.connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    client.socket.on('error', () => {}); // a test that cares waits for a line or for the end
    await once(client.socket, 'connect');
    client.#lines = readline.createInterface({ input: client.socket })[Symbol.asyncIterator]();
    return client;
  }

  static async user(port, nick, room) {
    const client = await Client.connect(port);
    await client.register(nick);
    if (room) {
      client.say(`JOIN ${room}`);
      await client.hearUntil(' 366 ');
    }
    return client;
  }

  say(text) {
    this.socket.write(`${text}\r\n`, 'latin1');
  }

  async register(nick) {
    this.say(`NICK ${nick}\r\nUSER ${nick} 0 * :${nick}`);
    await this.hearUntil(' 376 ');
  }

  // The next line; undefined at the end of the connection.
  async hear() {
    return (await this.#lines.next()).value;
  }

  // Skips lines up to the first that contains a text.
  async hearUntil(text) {
    for (;;) {
      const line = await this.hear();
      assert.notEqual(line, undefined, `the end came instead of ${text}`);
      if (line.includes(text)) {
        return line;
      }
    }
  }

  async expect(line) {
    assert.equal(await this.hear(), line);
  }

  async expectEnd() {
    assert.equal(await this.hear(), undefined);
    this.socket.destroy();
  }

  // Waits until the server has obeyed all that was said.
  async ping() {
    this.say('PING x');
    await this.hearUntil(' PONG ');
  }
}
