// One connection: its session, its send queue, and its end.

import { closingLine } from './chat/line.js';

// Time that the client has to close after the server, ms.
export const LINGER_MS = 1000;

// Class classic: one write call for each line. Node would batch all writes during an unfinished one into a writev, so a
// socket that is still writing gets no further line. The lines are queued here.
export class Connection {
  #socket;
  #session;
  #options;
  #onAdmissionEnd;
  #timer;
  #lines = [];
  #taken = 0; // number of lines at the front that are written
  #bytes = 0; // of the lines behind them
  #overflowed = false; // the queue has exceeded its limit; further lines are ignored
  #ending = false; // the session has ended; the queued lines are still written
  #onWritten = () => this.#writeNext();

  // onAdmissionEnd is called once, when the session has registered or ended.
  constructor(socket, state, options, onAdmissionEnd) {
    this.#socket = socket;
    this.#options = options;
    this.#onAdmissionEnd = onAdmissionEnd;
    const host = socket.remoteAddress?.replace(/^::ffff:/, '') ?? 'gone';
    this.#session = state.openSession(host, (line) => this.#send(line), () => !this.#ending && !this.#overflowed);
    this.#timer = setTimeout(() => this.#expire(), options.registrationTimeoutMs);
    socket.on('data', (bytes) => this.#feed(bytes));
    socket.on('end', () => this.#lose('Connection closed'));
    socket.on('error', () => this.#lose('Connection reset'));
    socket.on('close', () => clearTimeout(this.#timer));
  }

  #feed(bytes) {
    if (this.#ending) {
      return; // input is read, because closing with unread bytes would reset the connection
    }
    this.#session.feed(bytes);
    if (!this.#session.open) {
      this.#end();
    } else if (this.#session.registered) {
      this.#endAdmission();
    }
  }

  #endAdmission() {
    if (this.#onAdmissionEnd) {
      clearTimeout(this.#timer);
      this.#onAdmissionEnd();
      this.#onAdmissionEnd = null;
    }
  }

  #send(line) {
    if (this.#ending || this.#overflowed) {
      return;
    }
    if (this.#lines.length === 0 && this.#socket.writableLength === 0) {
      this.#socket.write(line, this.#onWritten);
      return;
    }
    this.#lines.push(line);
    this.#bytes += line.length;
    if (this.#bytes > this.#options.sendqBytes) {
      this.#overflowed = true;
      process.nextTick(() => this.#overflow()); // later, because a room may be sending to its members now
    }
  }

  // Called after each write, also after one that completed at once.
  #writeNext() {
    while (this.#taken < this.#lines.length && this.#socket.writableLength === 0 && !this.#socket.destroyed) {
      const line = this.#lines[this.#taken];
      this.#taken += 1;
      this.#bytes -= line.length;
      this.#socket.write(line, this.#onWritten);
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

  // Closes a slow reader: drops the queued lines and sends the reason.
  #overflow() {
    this.#session.hangUp('SendQ exceeded');
    const last = closingLine('SendQ exceeded');
    this.#lines = [last];
    this.#taken = 0;
    this.#bytes = last.length;
    this.#end();
  }

  // Waits until the last lines are written and the client has closed, with a time limit for each.
  #end() {
    if (this.#ending) {
      return;
    }
    this.#endAdmission();
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
