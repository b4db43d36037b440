// An HTTP client over a real socket that sends text as it is, and a site for it.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import net from 'node:net';
import test from 'node:test';
import { parseOptions } from '../options.js';
import { serve } from '../server.js';

export const SEED = 7n;
export const DIRECTORIES = 12;

class SiteClient {
  #received = Buffer.alloc(0);
  #ended = false;
  #wake = () => {}; // called when something was received or the connection has ended

  constructor(socket) {
    this.socket = socket;
    socket.on('error', () => {}); // tests check the next reply or the end instead
    socket.on('data', (bytes) => {
      this.#received = Buffer.concat([this.#received, bytes]);
      this.#wake();
    });
    socket.on('close', () => {
      this.#ended = true;
      this.#wake();
    });
  }

  send(text) {
    this.socket.write(text, 'latin1');
  }

  async #receive(isComplete) {
    while (!isComplete(this.#received)) {
      assert.ok(!this.#ended, `the connection ended after ${this.#received.length} bytes`);
      await new Promise((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  // Reads the next reply: { status, headers, body }. Its body must have a length.
  async reply() {
    await this.#receive((bytes) => bytes.includes('\r\n\r\n'));
    const headBytes = this.#received.indexOf('\r\n\r\n') + 4;
    const [statusLine, ...lines] = this.#received.toString('latin1', 0, headBytes - 4).split('\r\n');
    const headers = new Map(
      lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 2)]),
    );
    const bodyBytes = Number(headers.get('content-length'));
    assert.ok(bodyBytes >= 0, `the length of the body is ${headers.get('content-length')}`);
    await this.#receive((bytes) => bytes.length >= headBytes + bodyBytes);
    const body = this.#received.toString('latin1', headBytes, headBytes + bodyBytes);
    this.#received = this.#received.subarray(headBytes + bodyBytes);
    const [, status] = /^HTTP\/1\.1 (\d{3}) /.exec(statusLine);
    return { status: Number(status), headers, body };
  }

  // Sends a request and expects the status 200.
  async ask(request) {
    this.send(request);
    const reply = await this.reply();
    assert.equal(reply.status, 200, request);
    return reply;
  }

  // Expects that the server closes, without a byte before that.
  async expectEnd() {
    await this.#receive(() => this.#ended);
    assert.equal(this.#received.toString(), '');
  }
}

// Defines a test of a site. play gets a function that connects a client.
export function siteTest(name, play, { seed = SEED, directories = DIRECTORIES } = {}) {
  test(name, { timeout: 120_000 }, async () => {
    const args = ['--directories', String(directories), '--content-seed', String(seed), '--listen', '127.0.0.1:0'];
    const server = await serve(parseOptions(['--workload', 'web', ...args]), assert.fail);
    const clients = [];
    const connect = async () => {
      const socket = net.connect({ port: server.address().port, host: '127.0.0.1' });
      const client = new SiteClient(socket);
      clients.push(client);
      await once(socket, 'connect');
      return client;
    };
    try {
      await play(connect);
    } finally {
      server.close();
      clients.forEach((client) => client.socket.destroy());
    }
    await once(server, 'close');
  });
}

// A request over HTTP/1.1. Further headers end with CR LF.
export function get(target, headers = '') {
  return `GET ${target} HTTP/1.1\r\nHost: h\r\n${headers}\r\n`;
}

export const POST_COOKIE = 'Cookie: my_cookie=user_id=10003&last_ad=0\r\n';

export function post(headers, form) {
  return `POST /dynamic HTTP/1.1\r\nHost: h\r\n${headers}Content-Length: ${form.length}\r\n\r\n${form}`;
}

export function form(directory, fileClass, number, client) {
  return `urlroot=/file_set/&dir=${directory}&class=${fileClass}&num=${number}&client=${client}`;
}
