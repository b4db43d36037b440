// The log of all POSTs since the last Reset.

import { FIRST_USER } from './ads.js';
import { partsOf, pathOf } from './file.js';

const number = (value, digits) => String(value).padStart(digits);

// Most records of a log. A client that sends POSTs for ever is refused.
export const POSTS_MAX = 1_000_000;

export class PostLog {
  #records = [];

  // Appends a record. The numbers of processes are always 0. Returns false if the log is full.
  append(timeS, { index, client }, user) {
    if (this.#records.length >= POSTS_MAX) {
      return false;
    }
    const { directory, fileClass, number: inClass } = partsOf(index);
    const fields = [
      number(this.#records.length + 1, 10),
      number(timeS, 10),
      number(0, 10),
      number(directory, 5),
      number(fileClass, 2),
      number(inClass, 2),
      number(client, 10),
      pathOf(index).padEnd(60),
      number(0, 10),
      number(FIRST_USER + user, 10),
    ];
    this.#records.push(`${fields.join(' ')}\n`);
    return true;
  }

  // The whole log: a line with the number of records, and the records.
  text() {
    return Buffer.from(`${number(this.#records.length, 10)}\n${this.#records.join('')}`, 'latin1');
  }

  clear() {
    this.#records = [];
  }
}
