// One connection: its session, the lines that wait for it, and how it ends.

import { closingLine } from './chat/line.js';

// How long the other side may take to see that its connection is closed, ms.
export const LINGER_MS = 1000;

// Class classic: one write call for each line. Node would put all that it is given while a write is under way into one
// writev; so a socket that is still writing is given nothing, and the lines wait here.
export class Connection {
  #socket;
  #session;
  #options;
  #onSettled;
  #timer;
  #lines = [];
  #taken = 0; // so many lines at the front are written
  #bytes = 0; // of the others
  #overflowed = false; // more came than may wait; nothing more is taken
  #ending = false; // the session is over; what waits is still written
  #writeOn = () => this.#writeNext();

  // onSettled is called once, when the session has registered or is over.
  constructor(socket, hall, options, onSettled) {
    this.#socket = socket;
    this.#options = options;
    this.#onSettled = onSettled;
    const host = socket.remoteAddress?.replace(/^::ffff:/, '') ?? 'gone';
    this.#session = hall.enter(host, (line) => this.#send(line));
    this.#timer = setTimeout(() => this.#expire(), options.registrationTimeoutMs);
    socket.on('data', (bytes) => this.#feed(bytes));
    socket.on('end', () => this.#lose('Connection closed'));
    socket.on('error', () => this.#lose('Connection reset'));
    socket.on('close', () => clearTimeout(this.#timer));
  }

  #feed(bytes) {
    if (this.#ending) {
      return; // or closing would reset the connection, and the other side would lose our last words
    }
    this.#session.feed(bytes);
    if (!this.#session.open) {
      this.#end();
    } else if (this.#session.registered) {
      this.#settle();
    }
  }

  #settle() {
    if (this.#onSettled) {
      clearTimeout(this.#timer);
      this.#onSettled();
      this.#onSettled = null;
    }
  }

  #send(line) {
    if (this.#ending || this.#overflowed) {
      return;
    }
    if (this.#lines.length === 0 && this.#socket.writableLength === 0) {
      this.#socket.write(line, this.#writeOn);
      return;
    }
    this.#lines.push(line);
    this.#bytes += line.length;
    if (this.#bytes > this.#options.sendqBytes) {
      this.#overflowed = true;
      process.nextTick(() => this.#overflow()); // not now: we are in the middle of a fan-out
    }
  }

  // Called after each write, also after those that were done at once.
  #writeNext() {
    while (this.#taken < this.#lines.length && this.#socket.writableLength === 0 && !this.#socket.destroyed) {
      const line = this.#lines[this.#taken];
      this.#taken += 1;
      this.#bytes -= line.length;
      this.#socket.write(line, this.#writeOn);
    }
    if (this.#taken > this.#lines.length / 2) {
      this.#lines.splice(0, this.#taken);
      this.#taken = 0;
    }
    if (this.#ending && this.#lines.length === 0) {
      this.#socket.end();
    }
  }

  #expire() {
    this.#session.close('Registration timed out');
    this.#end();
  }

  #lose(reason) {
    this.#session.hangUp(reason);
    this.#end();
  }

  // A slow reader: forgets what waits, and tells it why.
  #overflow() {
    this.#session.hangUp('SendQ exceeded');
    const last = closingLine('SendQ exceeded');
    this.#lines = [last];
    this.#taken = 0;
    this.#bytes = last.length;
    this.#end();
  }

  // Sees the last lines out and waits until the other side has closed too, but for neither long.
  #end() {
    if (this.#ending) {
      return;
    }
    this.#settle();
    this.#ending = true;
    const destroy = () => this.#socket.destroy();
    this.#timer = setTimeout(destroy, this.#options.registrationTimeoutMs);
    this.#socket.once('finish', () => {
      clearTimeout(this.#timer);
      this.#timer = setTimeout(destroy, LINGER_MS);
    });
    this.#writeNext();
  }
}
