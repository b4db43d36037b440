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
    client.socket.on('error', () => {}); // tests check the next line or the end instead
    await once(client.socket, 'connect');
    client.#lines = readline.createInterface({ input: client.socket })[Symbol.asyncIterator]();
    return client;
  }

  static async user(port, nick, room) {
    const client = await Client.connect(port);
    await client.register(nick);
    if (room) {
      client.send(`JOIN ${room}`);
      await client.skipTo(' 366 ');
    }
    return client;
  }

  send(text) {
    this.socket.write(`${text}\r\n`, 'latin1');
  }

  async register(nick) {
    this.send(`NICK ${nick}\r\nUSER ${nick} 0 * :${nick}`);
    await this.skipTo(' 376 ');
  }

  // Returns the next line; undefined at the end of the connection.
  async nextLine() {
    return (await this.#lines.next()).value;
  }

  // Reads up to the first line that contains a text.
  async skipTo(text) {
    for (;;) {
      const line = await this.nextLine();
      assert.notEqual(line, undefined, `connection ended before ${text}`);
      if (line.includes(text)) {
        return line;
      }
    }
  }

  async expect(line) {
    assert.equal(await this.nextLine(), line);
  }

  async expectEnd() {
    assert.equal(await this.nextLine(), undefined);
    this.socket.destroy();
  }

  // Waits until the server has handled all earlier lines.
  async ping() {
    this.send('PING x');
    await this.skipTo(' PONG ');
  }
}
